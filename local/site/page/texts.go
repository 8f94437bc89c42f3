package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rollcall/local/site/message"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/node/text"
)

// Pasted is a text that somebody met and pasted in public: those by which package text
// is tested.
type Pasted struct {
	Text   string       `json:"text"`
	Source string       `json:"source"`
	Want   []checkid.ID `json:"want"` // any of them is right
}

// ReadPasted reads a file of such texts.
func ReadPasted(raw []byte) ([]Pasted, error) {
	var list []Pasted
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read texts: %w", err)
	}
	return list, nil
}

const (
	// mostTexts are shown of a check: enough to tell its forms.
	mostTexts = 4
	// longestText is one that a reader still compares with his own.
	longestText = 330
)

// Texts is the page of what AWS, Kubernetes and the node's programs say, by the check
// that looks for it; only what package text tells so is on it.
func (p Checks) Texts(pasted []Pasted) string {
	var b strings.Builder
	b.WriteString(generated + "# What a message means\n\n")
	b.WriteString("What EC2, Auto Scaling, EKS, Karpenter, the kubelet, containerd and Kubernetes say when a node does not come, as people pasted it, and the check that finds out why. ")
	b.WriteString("Yours has other ids: `rollcall explain \"…\"` reads any such text, whole logs too ([how](diagnose.md)). What Rollcall itself says is [on another page](troubleshoot.md).\n")
	for _, c := range p.List {
		list := textsOf(c, pasted)
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n[`%s`](checks/%s)\n", message.Escape(c.Title), c.ID, Path(c.ID))
		for _, t := range list {
			fmt.Fprintf(&b, "\n```text\n%s\n```\n", t)
		}
	}
	return b.String()
}

// textsOf are texts of a check that differ in how they begin.
func textsOf(c check.Check, pasted []Pasted) (list []string) {
	var begins []string
	for _, s := range pasted {
		words := strings.Join(strings.Fields(s.Text), " ")
		if len(list) == mostTexts || len(words) > longestText || !slices.Contains(s.Want, c.ID) || text.Tell(s.Text).Check != c.ID {
			continue
		}
		begin := words[:min(len(words), 40)]
		if slices.Contains(begins, begin) {
			continue
		}
		list, begins = append(list, strings.TrimSpace(strings.ReplaceAll(words, "```", ""))), append(begins, begin)
	}
	return list
}
