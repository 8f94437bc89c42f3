package diagnose

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// What is piped and longer than a message is read as a log, to its end.
func TestExplainLog(t *testing.T) {
	quiet := strings.Repeat("Nov 20 15:03:11 ip-10-0-1-2 systemd[1]: Started Session 1 of User root.\n", 2000)
	last := "Nov 20 15:04:11 ip-10-0-1-2 kubelet[1]: E1120 15:04:11.123456 1 kubelet_node_status.go:96] \"Unable to register node with API server\" err=\"Unauthorized\" token=AKIAIOSFODNN7EXAMPLE\n"
	for name, tt := range map[string]struct {
		in     string
		status int
		says   []string
	}{
		"a log that tells something": {quiet + last + last, 0, []string{"line 2001, and 1 like it: iam/access-missing\n", "Unable to register node", "\n2002 lines read.\n"}},
		"a log that tells nothing":   {quiet, 2, []string{"2000 lines read; nothing is known of any.\n"}},
		"noise":                      {strings.Repeat("\x00\xff", 1<<20), 2, []string{"1 lines read; nothing is known of any; 1 were too long, and only their begin was read.\n"}},
	} {
		var out, errs bytes.Buffer
		status := commandOn(strings.NewReader(tt.in), []string{"explain"}, &out, &errs)
		if status != tt.status || errs.Len() > 0 {
			t.Errorf("%s: status %d, errors %q", name, status, errs.String())
		}
		for _, words := range tt.says {
			if !strings.Contains(out.String(), words) {
				t.Errorf("%s: %q does not say %q", name, out.String(), words)
			}
		}
		if strings.Contains(out.String(), "AKIAIOSFODNN7EXAMPLE") {
			t.Errorf("%s: a key is printed", name)
		}
	}
	var out, errs bytes.Buffer
	commandOn(strings.NewReader(quiet+last), []string{"explain", "--json"}, &out, &errs)
	var got told
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Lines != 2001 || len(got.Told) != 1 || got.Told[0].Line != 2001 || got.Told[0].Count != 1 || got.Told[0].Check != "iam/access-missing" {
		t.Errorf("%v: %+v", err, got)
	}
}
