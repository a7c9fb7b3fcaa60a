// The reward: rejects results with more rows than usual.

import { accepted, count, rejected } from "syrch-plugin";

export default {
  judge({ settings, rivals }) {
    return rivals.map(({ results }) => {
      const { rows } = results.profile;
      return rows > settings.most ? rejected(0, `${count(rows, "row")} are too many`) : accepted(1, count(rows, "row"));
    });
  },
};
