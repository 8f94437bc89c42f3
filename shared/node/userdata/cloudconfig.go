package userdata

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// cloudConfig reads the commands of cloud-init's own format.
func (d *reader) cloudConfig(text string) {
	d.add(CloudConfig)
	first, _, err := d.budget.documents(text)
	root := d.budget.object(first)
	if err != nil || root == nil {
		d.mention(text)
		return
	}
	var script strings.Builder
	for _, key := range []string{"bootcmd", "runcmd"} {
		list := root.get(key)
		if list == nil || list.n.Kind != yaml.SequenceNode {
			continue
		}
		for _, item := range list.n.Content {
			script.WriteString(d.budget.line(resolve(item)) + "\n")
		}
	}
	before := d.Calls
	d.calls(script.String())
	if d.Calls > before {
		return
	}
	d.mention(text)
	if root.get("write_files") != nil && strings.TrimSpace(script.String()) != "" {
		d.scripted("a file that it writes")
	}
}

// line is one command: a string for the shell, or a list of words.
func (b *budget) line(n *yaml.Node) string {
	if n == nil || b.over != nil {
		return ""
	}
	if n.Kind == yaml.ScalarNode {
		b.spend(Work, len(n.Value)) // an alias repeats it
		return n.Value
	}
	var words []string
	for _, w := range n.Content {
		if w = resolve(w); w != nil && w.Kind == yaml.ScalarNode && b.spend(Work, len(w.Value)) {
			words = append(words, "'"+strings.ReplaceAll(w.Value, "'", `'\''`)+"'")
		}
	}
	return strings.Join(words, " ")
}
