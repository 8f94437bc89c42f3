package scheduling

import (
	"testing"
)

func TestParseAmount(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "100": "100", "1.5": "3/2", ".5": "1/2", "500m": "1/2", "250u": "1/4000", "3n": "3/1000000000", "2k": "2000", "1M": "1000000", "7G": "7000000000",
		"1Ki": "1024", "400Gi": "429496729600", "1Ei": "1152921504606846976", "1e3": "1000", "12E2": "1200", "2E": "2000000000000000000", "-1": "-1", " 4 ": "4", "1.": "1",
	} {
		if got, ok := ParseAmount(text); !ok || got.RatString() != want {
			t.Errorf("ParseAmount(%q) = %s, %v; want %s", text, got.RatString(), ok, want)
		}
	}
	for _, text := range []string{"", "cpu", "1 Gi", "1GI", "0x10", "1/2", "1e", "1e999", "∞", "1Gi!", "--1"} {
		if got, ok := ParseAmount(text); ok || got.Sign() != 0 {
			t.Errorf("ParseAmount(%q) = %s, %v; want none", text, got.RatString(), ok)
		}
	}
}

func TestRemaining(t *testing.T) {
	for name, tt := range map[string]struct{ limit, used, want string }{
		"left":                 {"100", "96", "4"},
		"none left":            {"1k", "1000", "0"},
		"more than is allowed": {"10", "12", "-2"},
		"other units":          {"1Gi", "1024Mi", "0"},
		"not counted":          {"100", "", "none"},
		"nothing is allowed":   {"0", "", "0"},
		"no amount":            {"many", "1", "none"},
		"no amount is used":    {"1", "many", "none"},
	} {
		got, ok := Remaining(tt.limit, tt.used)
		if ok != (tt.want != "none") || ok && got.RatString() != tt.want {
			t.Errorf("%s: %v, %v; want %s", name, got, ok, tt.want)
		}
	}
}

func FuzzParseAmount(f *testing.F) {
	for _, seed := range []string{"100", "500m", "400Gi", "1e3", "-.5Ki", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) { ParseAmount(text) }) // must not panic, nor take for ever
}
