package command

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"rollcall/local/exit"
	"rollcall/local/explain"
)

// What is piped and longer than a message is read as a log, to its end.
func TestExplainLog(t *testing.T) {
	quiet := strings.Repeat("Nov 20 15:03:11 ip-10-0-1-2 systemd[1]: Started Session 1 of User root.\n", 2000)
	last := "Nov 20 15:04:11 ip-10-0-1-2 kubelet[1]: E1120 15:04:11.123456 1 kubelet_node_status.go:96] \"Unable to register node with API server\" err=\"Unauthorized\" token=AKIAIOSFODNN7EXAMPLE\n"
	var out, errs bytes.Buffer
	if status := commandOn(strings.NewReader(quiet), []string{"explain"}, &out, &errs); status != exit.Unsure || errs.Len() > 0 || out.String() != "2000 lines read; nothing is known of any.\n" {
		t.Errorf("status %d, %q, errors %q", status, out.String(), errs.String())
	}
	out.Reset()
	if status := commandOn(strings.NewReader(quiet+last), []string{"explain", "-"}, &out, &errs); status != exit.Healthy || errs.Len() > 0 || !strings.HasPrefix(out.String(), "line 2001: iam/access-missing\n") {
		t.Errorf("status %d, %q, errors %q", status, out.String(), errs.String())
	}
	out.Reset()
	commandOn(strings.NewReader(quiet+last), []string{"explain", "--json"}, &out, &errs)
	var got explain.Log
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Lines != 2001 || len(got.Told) != 1 || got.Told[0].Line != 2001 || got.Told[0].Count != 1 || got.Told[0].Check != "iam/access-missing" {
		t.Errorf("%v: %+v", err, got)
	}
}
