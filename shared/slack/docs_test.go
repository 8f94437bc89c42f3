package slack

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/incident"
)

// The check in the last line leads to its page where there is a site, and what is no check
// leads nowhere; without one the message is as it was.
func TestDocsLink(t *testing.T) {
	const site = "https://docs.example.com/rollcall"
	inc := scenes()[0].incident
	blocks := func(inc incident.Incident, o Options) string {
		text, err := json.Marshal(Render(inc, o).Blocks)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := site + "/checks/" + string(inc.Key.Check) + ".html"
	with := blocks(inc, Options{Docs: site})
	if want := `{"type":"link","url":"` + page + `","text":"` + string(inc.Key.Check) + `","style":{"italic":true}}`; !strings.Contains(with, want) {
		t.Errorf("no link %s in %s", want, with)
	}
	if without := blocks(inc, Options{}); strings.Contains(without, "docs.example.com") || Render(inc, Options{}).Digest() == Render(inc, Options{Docs: site}).Digest() {
		t.Errorf("without a site: %s", without)
	}
	inc.Key.Check = incident.CannotLook
	if got := blocks(inc, Options{Docs: site}); strings.Contains(got, "docs.example.com") {
		t.Errorf("%s is no check, and has a link: %s", inc.Key.Check, got)
	}
}

// Each check has the page that its link names.
func TestEveryCheckHasItsPage(t *testing.T) {
	for _, c := range checks.All() {
		address := Options{Docs: "../../docs"}.pageOf(c.ID)
		if _, err := os.Stat(strings.TrimSuffix(address, ".html") + ".md"); err != nil {
			t.Errorf("%s: %v: run make generate", c.ID, err)
		}
	}
}
