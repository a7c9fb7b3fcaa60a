// The calibrator: halves what is claimed after more attempts than usual.

import type { CalibratorRole } from "syrch-plugin";
import type { Settings } from "../settings.ts";

export default {
  calibrate({ settings, claims }) {
    return claims.map(({ claimed, signals }) => (signals.attempts > settings.most ? claimed / 2 : claimed));
  },
} satisfies CalibratorRole<Settings>;
