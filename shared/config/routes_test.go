package config

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/spec"
)

func TestRoutesAndReminders(t *testing.T) {
	load := func(routes, remind string) (Config, error) {
		set := map[string]string{string(Routes): routes, string(RemindAfter): remind}
		return Load(func(name string) string { return set[name] }, []spec.Variable{Routes, RemindAfter})
	}
	c, err := load("", "")
	if err != nil || c.Routes != nil || c.RemindAfter != 30*time.Minute {
		t.Errorf("by default %v and %s, %v", c.Routes, c.RemindAfter, err)
	}
	if c, err = load("prod/critical=C0PAGES0001@S0ONCALL01", "0"); err != nil || len(c.Routes) != 1 || c.RemindAfter != 0 {
		t.Errorf("got %v and %s, %v", c.Routes, c.RemindAfter, err)
	}
	for routes, remind := range map[string]string{"prod=#alerts": "30m", "none": "1m", "all=C01": "often"} {
		if _, err := load(routes, remind); err == nil || !strings.Contains(err.Error(), "set it with `-c r") {
			t.Errorf("%q and %q gave %v", routes, remind, err)
		}
	}
}
