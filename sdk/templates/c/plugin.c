// The plugin `{{name}}`. Each role is in a file of its own in roles/.

#include "plugin.h"

SYRCH_PLUGIN("{{name}}", "0.1.0", "says in one line what the plugin does", SETTINGS)
