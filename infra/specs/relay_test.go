package specs

import (
	"slices"
	"testing"

	"rollcall/shared/relay"
)

// TestRelayDigest: a relay that does something else has another digest, so that rollcall
// doctor reports it as old.
func TestRelayDigest(t *testing.T) {
	if RelayDigest() != relayOf().digest() || len(relayOf().Paths) != len(relay.Paths()) {
		t.Fatal("the digest is of something else than the relay's paths")
	}
	for name, change := range map[string]func(*relayed){
		"it lists less":         func(r *relayed) { r.Paths = r.Paths[1:] },
		"it lists other":        func(r *relayed) { r.Paths[0].Path = "/api/v1/secrets" },
		"it takes another key":  func(r *relayed) { r.Paths[0].Keys = append(slices.Clone(r.Paths[0].Keys), "watch") },
		"it is asked otherwise": func(r *relayed) { r.Request = append(r.Request, "method string") },
		"it answers otherwise":  func(r *relayed) { r.Answer = r.Answer[1:] },
		"it hands on more":      func(r *relayed) { r.MostBody++ },
		"it is told more":       func(r *relayed) { r.Told = append(slices.Clone(r.Told), "ROLLCALL_MORE") },
		"it is larger":          func(r *relayed) { r.Memory *= 2 },
		"it has more time":      func(r *relayed) { r.Timeout *= 2 },
	} {
		r := relayOf()
		if change(&r); r.digest() == RelayDigest() {
			t.Errorf("%s, and the digest is the same", name)
		}
	}
}
