// The settings of the plugin, which all its files share: what the user may set, such as `-P {{role}}.most=20`.
#ifndef PLUGIN_H
#define PLUGIN_H

#include "syrch.h"

#define SETTINGS(X) X(integer, most, 10, 1, 1000000, "The most rows, tables, attempts, questions or proposals that count as usual.")
SYRCH_SETTINGS(SETTINGS)

#endif
