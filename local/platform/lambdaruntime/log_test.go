package lambdaruntime

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name   string
		writes []string
		want   []string
	}{
		{"whole lines", []string{"a\nb\n"}, []string{"a", "b"}},
		{"in pieces", []string{"a", "b\nc", "\n"}, []string{"ab", "c"}},
		{"empty line", []string{"\n"}, []string{""}},
		{"without an end", []string{"a\nb"}, []string{"a", "b"}},
		{"too long", []string{strings.Repeat("x", maxLine+1) + "\n"}, []string{strings.Repeat("x", maxLine), "x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			l := &lineLog{to: func(line Line) { got = append(got, line.Text) }}
			s := l.stream("stdout")
			for _, w := range tt.writes {
				if n, err := s.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatalf("Write: got %d, %v", n, err)
				}
			}
			l.flush()
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
