package main

import "testing"

// with returns the plugin with settings in JSON; an empty text stands for the defaults.
func with(t *testing.T, settings string) Plugin {
	t.Helper()
	made, err := plugin.With(settings)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestSettingsAreChecked(t *testing.T) {
	if most := with(t, `{"most": 20}`).Most; most != 20 {
		t.Errorf("got %d", most)
	}
	if _, err := plugin.With(`{"most": 0}`); err == nil {
		t.Error("0 was read")
	}
}
