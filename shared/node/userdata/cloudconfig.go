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
	d.dropIns(root.get("write_files"))
	d.DropIn = d.DropIn || strings.Contains(script.String(), dropInFolder)
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

// dropInFolder is from where nodeadm merges NodeConfigs over that of the user data.
const dropInFolder = "/etc/eks/nodeadm.d/"

// dropIns keeps the NodeConfigs that write_files puts into nodeadm's folder.
func (d *reader) dropIns(files *node) {
	if files == nil || files.n.Kind != yaml.SequenceNode {
		return
	}
	for _, item := range files.n.Content {
		file := d.budget.object(item)
		if !strings.HasPrefix(file.get("path").text(), dropInFolder) {
			continue
		}
		content, encoding := file.get("content").text(), file.get("encoding").text()
		if !looksLikeNodeConfig(content) || encoding != "" && encoding != "text/plain" {
			d.DropIn = true
			continue
		}
		d.late = append(d.late, content)
	}
}
