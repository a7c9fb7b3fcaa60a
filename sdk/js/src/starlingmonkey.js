// The first module of a component of StarlingMonkey: what its bindings take and give differs from those of QuickJS.

import { useStarlingMonkey } from "./codec.js";
import { install } from "./console.js";

useStarlingMonkey();
install(true);
