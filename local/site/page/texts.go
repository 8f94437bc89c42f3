package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/site/message"
	"rollcall/shared/checkid"
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
	mostTexts = 8
	// longestText is one that a reader still compares with his own.
	longestText = 330
)

// Code is a code with which a call of AWS ends, or in which EKS reports on something.
type Code struct{ Name, Text string }

// ReadCodes reads a list of calls and codes, one of each a line.
func ReadCodes(raw string) (list []Code) {
	for _, line := range strings.Split(raw, "\n") {
		if call, code, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, "#") {
			list = append(list, Code{code, fmt.Sprintf("An error occurred (%s) when calling the %s operation: it failed", code, call)})
		}
	}
	return list
}

// IssueCodes are EKS's, of nodegroups, add-ons, clusters and updates.
func IssueCodes() (list []Code) {
	add := func(code string) {
		list = append(list, Code{code, fmt.Sprintf(`{"health": {"issues": [{"code": %q, "message": "some words"}]}}`, code)})
	}
	for _, c := range ekstypes.NodegroupIssueCode("").Values() {
		add(string(c))
	}
	for _, c := range ekstypes.AddonIssueCode("").Values() {
		add(string(c))
	}
	for _, c := range ekstypes.ClusterIssueCode("").Values() {
		add(string(c))
	}
	for _, c := range ekstypes.ErrorCode("").Values() {
		add(string(c))
	}
	return list
}

// codesByCheck are the names of the codes that package text takes for each check.
func codesByCheck(codes []Code) map[checkid.ID][]string {
	by := map[checkid.ID][]string{}
	for _, code := range codes {
		id := text.Tell(code.Text).Check
		by[id] = append(by[id], code.Name)
	}
	for id, names := range by {
		slices.Sort(names)
		by[id] = slices.Compact(names)
	}
	return by
}

// Texts is the page of what AWS, Kubernetes and the node's programs say, by the check
// that looks for it; only what package text tells so is on it.
func (p Checks) Texts(pasted []Pasted, codes []Code) string {
	var b strings.Builder
	b.WriteString(generated + "# What a message means\n\n")
	b.WriteString("What EC2, Auto Scaling, EKS, Karpenter, the kubelet, containerd and Kubernetes say when a node does not come, as people pasted it, and the check that finds out why. ")
	b.WriteString("Yours has other ids: `rollcall explain \"…\"` reads any such text, whole logs too ([how](diagnose.md)). What Rollcall itself says is [on another page](troubleshoot.md).\n")
	told, codesOf := textsByCheck(pasted), codesByCheck(codes)
	for _, c := range p.List {
		list, names := told[c.ID], codesOf[c.ID]
		if len(list)+len(names) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n[`%s`](checks/%s)\n", message.Escape(c.Title), c.ID, Path(c.ID))
		if len(names) > 0 {
			fmt.Fprintf(&b, "\nCodes: %s\n", code(names))
		}
		for _, t := range list {
			fmt.Fprintf(&b, "\n```text\n%s\n```\n", t)
		}
	}
	return b.String()
}

// textsByCheck are texts that package text takes for a check that is right; of a check they
// differ in how they begin.
func textsByCheck(pasted []Pasted) map[checkid.ID][]string {
	by := map[checkid.ID][]string{}
	for _, s := range pasted {
		words := strings.TrimSpace(strings.ReplaceAll(strings.Join(strings.Fields(s.Text), " "), "```", ""))
		if len(words) > longestText {
			continue
		}
		id := text.Tell(s.Text).Check
		begin := words[:min(len(words), 40)]
		if len(by[id]) == mostTexts || !slices.Contains(s.Want, id) || slices.ContainsFunc(by[id], func(t string) bool { return strings.HasPrefix(t, begin) }) {
			continue
		}
		by[id] = append(by[id], words)
	}
	return by
}
