// A reward that accepts short results.

import { accepted, plugin, rejected, setting } from "syrch-plugin";

export default plugin({
  name: "short",
  version: "1.0.0",
  summary: "likes short results",
  settings: {
    mostRows: setting.integer(100, "Results with more rows are rejected.", { least: 1, most: 1_000_000 }),
  },
  reward: {
    judge({ settings, rivals }) {
      return rivals.map(({ results }) => {
        const { rows } = results.profile;
        return rows > settings.mostRows ? rejected(0, `${rows} rows are too many`) : accepted(1, `${rows} rows`);
      });
    },
  },
});
