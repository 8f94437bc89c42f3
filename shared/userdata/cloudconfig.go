package userdata

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// cloudConfig reads the commands of cloud-init's own format.
func (d *Document) cloudConfig(text string) {
	d.add(CloudConfig)
	first, _, err := documents(text)
	root := object(first)
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
			script.WriteString(line(resolve(item)) + "\n")
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
func line(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	var words []string
	for _, w := range n.Content {
		if w = resolve(w); w != nil && w.Kind == yaml.ScalarNode {
			words = append(words, "'"+strings.ReplaceAll(w.Value, "'", `'\''`)+"'")
		}
	}
	return strings.Join(words, " ")
}
