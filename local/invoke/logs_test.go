package main

import (
	"bytes"
	"testing"
)

func TestLogs(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"record":     {`14:59:06.123 rollcall-report {"time":"x","level":"WARN","msg":"node is late","function":"report","request":"r","instance":"i-1","reason":"no node","calls":{"a":1},"took":"40ms"}`, "  14:59:06.123  WARN   node is late  instance=i-1 reason=\"no node\" took=40ms\n"},
		"padded":     {`14:59:06.123 short        {"level":"INFO","msg":"done"}`, "  14:59:06.123  INFO   done\n"},
		"metrics":    {`14:59:06.123 f {"AwsCalls":15,"_aws":{"Timestamp":1},"function":"f"}`, "  14:59:06.123  METRIC AwsCalls=15\n"},
		"empty text": {`14:59:06.123 f {"level":"INFO","msg":"done","a":""}`, "  14:59:06.123  INFO   done  a=\"\"\n"},
		"start":      {"14:59:06.123 f START RequestId: 1 Version: $LATEST", ""},
		"end":        {"14:59:06.123 f END RequestId: 1", ""},
		"report":     {"14:59:06.123 f REPORT RequestId: 1\tDuration: 2 ms", ""},
		"panic":      {"14:59:06.123 f panic: runtime error", "  14:59:06.123  panic: runtime error\n"},
		"cut off":    {`14:59:06.123 f {"level":"INFO","msg":`, "  14:59:06.123  {\"level\":\"INFO\",\"msg\":\n"},
		"two":        {`14:59:06.123 f {"a":1} {"b":2}`, "  14:59:06.123  {\"a\":1} {\"b\":2}\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			n, err := (&logs{out: &out}).Write([]byte(tt.line + "\n"))
			if err != nil || n != len(tt.line)+1 {
				t.Errorf("got %d, %v, want %d", n, err, len(tt.line)+1)
			}
			if got := out.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzPlain(f *testing.F) {
	f.Add(`{"level":"INFO","msg":"done","calls":{"a":1}}`)
	f.Add(`{"a":[1,{"b":null}]}`)
	f.Add("START RequestId: 1")
	f.Fuzz(func(t *testing.T, text string) {
		plain(text) // must not panic
	})
}
