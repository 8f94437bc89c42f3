package fakeslack

import "testing"

func TestConfigRefused(t *testing.T) {
	one := []Channel{{ID: "C1", Name: "a"}}
	for name, cfg := range map[string]Config{
		"no token":      {Channels: one},
		"no channel":    {Token: "x"},
		"no name":       {Token: "x", Channels: []Channel{{ID: "C1"}}},
		"the same id":   {Token: "x", Channels: []Channel{{ID: "C1", Name: "a"}, {ID: "C1", Name: "b"}}},
		"the same name": {Token: "x", Channels: []Channel{{ID: "C1", Name: "a"}, {ID: "C2", Name: "a"}}},
	} {
		if s, err := New(cfg); err == nil {
			t.Errorf("%s: started", name)
			_ = s.Close()
		}
	}
}
