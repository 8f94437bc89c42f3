package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// committed is the table, from this folder.
const committed = "../../model.txt"

// TestModelIsFresh makes the table again, where the botocore is at hand that it
// was made of.
func TestModelIsFresh(t *testing.T) {
	text, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	version, data, err := botocore("python3")
	if err != nil {
		t.Skipf("NOT LOOKED AT: whether stage/platform/wire/model.txt is what the generator makes: %v", err)
	}
	if !strings.Contains(string(text), "of botocore "+version+". DO NOT EDIT") {
		t.Skipf("NOT LOOKED AT: whether stage/platform/wire/model.txt is what the generator makes: it was made of another botocore than %s, which is here", version)
	}
	list, err := operations("..")
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := generate(version, data, list)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(fresh, text) {
		t.Error("stage/platform/wire/model.txt is not what the generator makes: run go run ./stage/platform/wire/gen/model")
	}
}

// library is a botocore with one service.
func library(t *testing.T, model string) fstest.MapFS {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(model)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"sky/2019-01-01/service-2.json.gz": {}, "sky/2020-01-01/service-2.json.gz": {Data: packed.Bytes()}}
}

func TestGenerate(t *testing.T) {
	data := library(t, `{"operations":{"Draw":{"input":{"shape":"DrawRequest"}},"Rest":{},"Unused":{"input":{"shape":"Nothing"}}},"shapes":{
		"DrawRequest":{"type":"structure","required":["name"],"members":{"name":{"shape":"Name"},"free":{"shape":"Text"},"kinds":{"shape":"Kinds"},"again":{"shape":"DrawRequest"},"tags":{"shape":"Tags"},"size":{"shape":"Size"}}},
		"Name":{"type":"string","min":1,"max":8,"pattern":"[\\u0020-\\u007F]+"},"Text":{"type":"string"},"Kinds":{"type":"list","member":{"shape":"Kind"},"max":2},
		"Kind":{"type":"string","enum":["sun","moon"]},"Tags":{"type":"map","key":{"shape":"Name"},"value":{"shape":"Text"}},"Size":{"type":"integer","min":0}}}`)
	got, err := generate("1.2", data, map[string][]string{"sky": {"Rest", "Draw", "Draw"}})
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(got), "no limit\n")
	want := `service sky
op Draw DrawRequest
op Rest -
struct DrawRequest Again=DrawRequest Free=- Kinds=Kinds Name!=Name Size=Size Tags=Tags
enum Kind sun moon
list Kinds Kind - 2
text Name 1 8 "[\\x{0020}-\\x{007F}]+"
number Size 0 -
map Tags Name - - -
`
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestGenerateRefuses(t *testing.T) {
	for name, test := range map[string]struct{ model, op, want string }{
		"an operation that is not there": {`{}`, "Draw", "has no operation Draw"},
		"a shape that is not there":      {`{"operations":{"Draw":{"input":{"shape":"X"}}}}`, "Draw", "no shape X"},
		"a shape of another kind":        {`{"operations":{"Draw":{"input":{"shape":"X"}}},"shapes":{"X":{"type":"document"}}}`, "Draw", "X is a document"},
		"a pattern that Go cannot read":  {`{"operations":{"Draw":{"input":{"shape":"X"}}},"shapes":{"X":{"type":"string","pattern":"(?=a)"}}}`, "Draw", "the pattern cannot be read"},
	} {
		if _, err := generate("1", library(t, test.model), map[string][]string{"sky": {test.op}}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
