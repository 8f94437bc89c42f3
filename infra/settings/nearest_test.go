package settings

import "testing"

func TestNearest(t *testing.T) {
	var keys []string
	for _, k := range Keys() {
		keys = append(keys, k.Name)
	}
	for word, want := range map[string]string{
		"jointime": "joinTime", "joinTme": "joinTime", "jionTime": "joinTime", "JOIN_TIME": "joinTime",
		"logRetentionDay": "logRetentionDays", "slackChanel": "slackChannel", "cluster": "clusters",
		"approver": "approvers", "remedyVPC": "remedyVpcs",
		// Nothing like it: no guess is better than a wrong one.
		"colour": "", "x": "", "": "",
	} {
		if got := nearest(word, keys); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	// Each key is nearest to itself.
	for _, k := range keys {
		if got := nearest(k, keys); got != k {
			t.Errorf("%q: got %q", k, got)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"kitten", "sitting", 3}, {"ä", "a", 1}} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("%q, %q: got %d, want %d", test.a, test.b, got, test.want)
		}
		if got := distance(test.b, test.a); got != test.want {
			t.Errorf("%q, %q: got %d, want %d", test.b, test.a, got, test.want)
		}
	}
}
