package main

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestKeys(t *testing.T) {
	got, err := keys([]byte("package vpc\n\nvar limits = map[string]Limits{\n\t\"m5.large\": {ENILimit: 3, HypervisorType: \"nitro\"},\n\t\"c5.large\": {},\n\t\"m5.large\": {},\n}\n"))
	if diff := cmp.Diff([]string{"c5.large", "m5.large"}, got); diff != "" || err != nil {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	if _, err := keys([]byte("package vpc\n")); !errors.Is(err, errNoTable) {
		t.Errorf("without a table: %v", err)
	}
	if _, err := keys([]byte("table")); err == nil || errors.Is(err, errNoTable) {
		t.Errorf("no Go: %v", err)
	}
}

func TestText(t *testing.T) {
	at := time.Date(2026, 7, 31, 9, 0, 0, 0, time.UTC)
	got := string(text([]release{{"v1.0.0", "0a", at, []string{"a.b", "c.d"}}, {"v1.1.0", "0b", at.AddDate(0, 0, 1), []string{"c.d", "e.f"}}}))
	want := "# newest v1.1.0 0b 2026-08-01\nv1.0.0 2026-07-31 a.b c.d\nv1.1.0 2026-08-01 e.f -a.b\n`\n"
	if len(got) < len(want) || got[len(got)-len(want):] != want {
		t.Errorf("got\n%s\nwant it to end in\n%s", got, want)
	}
}
