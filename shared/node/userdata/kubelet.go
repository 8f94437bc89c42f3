package userdata

import (
	"strings"
)

// Flag is the last value of a flag of the kubelet, named without dashes.
func (d Document) Flag(name string) Setting {
	var s Setting
	for _, v := range d.flagValues(name) {
		s = setting(v)
	}
	return s
}

// flagValues are all values of a flag: "--name=value" or "--name value".
func (d Document) flagValues(name string) []string {
	var list []string
	for i, f := range d.Flags {
		switch key, value, joined := strings.Cut(f, "="); {
		case key != "--"+name:
		case joined:
			list = append(list, value)
		case i+1 < len(d.Flags):
			list = append(list, d.Flags[i+1])
		}
	}
	return list
}

// readFlags draws from the flags what they say.
func (d *Document) readFlags() {
	for i, f := range d.Flags {
		d.Flags[i] = unquote(f)
	}
	for _, value := range d.flagValues("node-labels") {
		for label := range strings.SplitSeq(unquote(value), ",") {
			key, value, _ := strings.Cut(strings.TrimSpace(label), "=")
			d.label(key, value)
		}
	}
	if s := d.Flag("max-pods"); s.Given {
		d.MaxPods = s // a flag wins over the kubelet's config file
	}
	if s := d.Flag("cluster-dns"); s.Known() {
		d.DNS = strings.Split(s.Value, ",")
	}
	for i, f := range d.Flags {
		d.Flags[i] = strings.ReplaceAll(f, hole, "…")
	}
}

func (d *Document) label(key, value string) {
	if key == "" || strings.Contains(key, hole) {
		return
	}
	if d.Labels == nil {
		d.Labels = map[string]string{}
	}
	d.Labels[key] = setting(value).Value
}

// unquote takes off one pair of quotes around a whole text.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// setting is a word of a script as a setting.
func setting(word string) Setting {
	if strings.Contains(word, hole) {
		return Setting{Given: true, Computed: true}
	}
	return Setting{Value: word, Given: true}
}
