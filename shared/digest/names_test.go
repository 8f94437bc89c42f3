package digest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"rollcall/shared/config"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// named are records of which the name alone is asked.
type named struct {
	Table
	alias string
	err   error
	asked *int
}

func (n named) Alias(context.Context) (store.Alias, bool, error) {
	*n.asked++
	return store.Alias{Alias: n.alias}, n.alias != "", n.err
}

// TestNamesOfAll: what the settings call an account goes before its alias, which is not even
// read; what cannot be read is the account's number.
func TestNamesOfAll(t *testing.T) {
	list := map[string]named{"": {}, "222233334444": {alias: "acme"}, "333344445555": {alias: "other"}, "444455556666": {alias: "lost", err: errors.New("throttled")}}
	asked := 0
	env := map[string]string{
		"AWS_REGION": "us-west-2", "ROLLCALL_ACCOUNT": "111122223333", "ROLLCALL_EXTERNAL_ID": "rollcall-1",
		"ROLLCALL_SPOKES": "222233334444/us-west-2,333344445555/us-west-2=search,444455556666/us-west-2",
	}
	c, err := config.Load(func(name string) string { return env[name] }, config.SpokeVariables())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var log bytes.Buffer
	for _, w := range All(c, func(id spoke.ID) Records { n := list[id.Account]; n.asked = &asked; return n }) {
		got = append(got, w.name(t.Context(), slog.New(slog.NewTextHandler(&log, nil))).Whose)
	}
	if want := "111122223333 acme search 444455556666"; strings.Join(got, " ") != want || asked != 3 {
		t.Errorf("they are called %q after %d reads, want %s after 3", got, asked, want)
	}
	if strings.Count(log.String(), "throttled") != 1 {
		t.Errorf("the log is %s", log.String())
	}
}
