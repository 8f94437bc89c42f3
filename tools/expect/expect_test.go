package expect

import (
	"errors"
	"fmt"
	"testing"
)

// recorder keeps what is reported to it.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Fatal(args ...any)         { r.said = append(r.said, fmt.Sprint(args...)) }
func (r *recorder) Errorf(f string, a ...any) { r.said = append(r.said, fmt.Sprintf(f, a...)) }

func TestDifferencesAreReported(t *testing.T) {
	for what, test := range map[string]struct {
		run  func(testing.TB)
		want int
	}{
		"no error":      {func(t testing.TB) { OK(t, nil) }, 0},
		"an error":      {func(t testing.TB) { OK(t, errors.New("denied")) }, 1},
		"equal":         {func(t testing.TB) { Equal(t, "title", "a", "a") }, 0},
		"not equal":     {func(t testing.TB) { Equal(t, "title", "a", "b") }, 1},
		"the same":      {func(t testing.TB) { Same(t, "ids", []string{"a"}, []string{"a"}) }, 0},
		"not the same":  {func(t testing.TB) { Same(t, "ids", []string{"a"}, []string{"b"}) }, 1},
		"nil and empty": {func(t testing.TB) { Same(t, "ids", []string(nil), []string{}) }, 1},
	} {
		r := &recorder{TB: t}
		if test.run(r); len(r.said) != test.want {
			t.Errorf("%s: reported %q", what, r.said)
		}
	}
}
