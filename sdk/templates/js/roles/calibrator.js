// The calibrator: halves what is claimed after more attempts than usual.

export default {
  calibrate({ settings, claims }) {
    return claims.map(({ claimed, signals }) => (signals.attempts > settings.most ? claimed / 2 : claimed));
  },
};
