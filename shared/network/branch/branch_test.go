package branch

import (
	"strconv"
	"strings"
	"testing"
)

func TestLimit(t *testing.T) {
	for kind, want := range map[string]int{
		// The samples of the EKS best practices guide and of the user guide.
		"m5.large": 9, "m5.xlarge": 18, "m5.2xlarge": 38, "c6i.4xlarge": 54, "m5.24xlarge": 107, "m6g.medium": 4, "g5.xlarge": 4, "g6.xlarge": 18,
		"m7i-flex.large": 3, "p5.48xlarge": 120,
		"t3.medium": 0, "t4g.large": 0, "m4.large": 0, "i3.large": 0,
	} {
		if got, known := Limit(kind); got != want || !known {
			t.Errorf("%s carries %d (known %v), want %d", kind, got, known, want)
		}
	}
	for _, kind := range []string{"", "m5", "m5.", "m5.huge", "x99.large", ".large", "m5.large=9"} {
		if got, known := Limit(kind); known {
			t.Errorf("%q is said to carry %d", kind, got)
		}
	}
}

// TestTable holds that all of the table is read, each type once.
func TestTable(t *testing.T) {
	types, carry := 0, 0
	for line := range strings.Lines(limits) {
		words := strings.Fields(line)
		for _, word := range words[1:] {
			size, text, _ := strings.Cut(word, "=")
			want, err := strconv.Atoi(text)
			if got, known := Limit(words[0] + "." + size); err != nil || !known || got != want {
				t.Errorf("%s.%s is %d (known %v), and the table says %q", words[0], size, got, known, text)
			}
			types++
			if want > 0 {
				carry++
			}
		}
	}
	if types != 1164 || carry != 1060 {
		t.Errorf("%d types, %d of them with a trunk; the source has 1164 and 1060", types, carry)
	}
}
