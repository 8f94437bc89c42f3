package messages

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The automaton finds what strings.Contains finds, of phrases that begin, end and lie in
// each other.
func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(most int) string {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteByte("abc "[r.IntN(4)])
		}
		return b.String()
	}
	for range 2000 {
		phrases := make([]string, 1+r.IntN(30))
		for i := range phrases {
			phrases[i] = word(6)
		}
		text := word(60)
		want := make([]bool, len(phrases))
		for i, p := range phrases {
			want[i] = strings.Contains(text, p)
		}
		if diff := cmp.Diff(want, New(phrases).Find(text)); diff != "" {
			t.Fatalf("%q in %q:\n%s", phrases, text, diff)
		}
	}
}

func TestSays(t *testing.T) {
	for _, tt := range []struct {
		text, phrase string
		want         bool
	}{
		{"the subnet has no address", "subnet…address", true},
		{"the address of the subnet", "subnet…address", false},
		{"subnet, and far away an address", "subnet…address", false},
		{"subnet, and far away a subnet without address", "subnet…address", true},
		{"subnet", "subnet", true},
		{"", "subnet", false},
		{"a…b", "a…b…c", false},
	} {
		if got := Contains(tt.text, tt.phrase, 16); got != tt.want {
			t.Errorf("Contains(%q, %q) = %t", tt.text, tt.phrase, got)
		}
	}
}

// BenchmarkFind is of phrases that begin as the text does in many places.
func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	text := strings.Repeat("kubelet[1]: Unable to register node with API server, all is well with eni and subnet. ", 100)
	for name, count := range map[string]int{"10": 10, "1000": 1000} {
		phrases := make([]string, count)
		for i := range phrases {
			at := r.IntN(80)
			phrases[i] = text[at:at+4] + string(rune('a'+r.IntN(26))) + text[at+8:at+14]
		}
		set := New(phrases)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				set.Find(text)
			}
		})
	}
}
