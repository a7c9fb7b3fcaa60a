// The reward: rejects results with more rows than usual.

import { accepted, count, rejected, type RewardRole } from "syrch-plugin";
import type { Settings } from "../settings.ts";

export default {
  judge({ settings, rivals }) {
    return rivals.map(({ results }) => {
      const { rows } = results.profile;
      return rows > settings.most ? rejected(0, `${count(rows, "row")} are too many`) : accepted(1, count(rows, "row"));
    });
  },
} satisfies RewardRole<Settings>;
