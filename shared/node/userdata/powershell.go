package userdata

import (
	"strings"
)

// powershell reads the call of the script that EKS's Windows images have.
func (d *reader) powershell(text string) {
	found := false
	vars := map[string]string{}
	d.budget.spend(Work, len(text))
	for _, line := range logical(text) {
		if d.budget.over != nil {
			return
		}
		if name, value, ok := psAssignment(line); ok {
			words := d.budget.psWords(value, vars)
			if len(words) == 0 {
				words = []string{hole}
			}
			if _, twice := vars[name]; twice || len(words) > 1 {
				words[0] = hole
			}
			vars[name] = words[0]
			continue
		}
		if !strings.Contains(strings.ToLower(line), "-eksclustername") {
			continue
		}
		found = true
		d.Calls++
		d.windows(d.budget.psWords(line, vars))
	}
	if !found {
		d.add(PowerShell)
		if strings.Contains(strings.ToLower(text), "eksbootstrap") {
			d.scripted("Start-EKSBootstrap.ps1")
		}
		return
	}
	d.add(Windows)
}

// windows reads the parameters of Start-EKSBootstrap.ps1.
func (d *reader) windows(words []string) {
	var ca, endpoint Setting
	for i, w := range words {
		name, value, joined := strings.Cut(w, ":")
		if !joined {
			if i+1 >= len(words) {
				continue
			}
			value = words[i+1]
		}
		switch strings.ToLower(name) {
		case "-eksclustername":
			d.Name = setting(value)
		case "-apiserverendpoint":
			endpoint = setting(value)
		case "-base64clusterca":
			ca = setting(value)
		case "-servicecidr":
			d.ServiceCIDR = setting(value)
		case "-dnsclusterip":
			if s := setting(value); s.Known() {
				d.DNS = strings.Split(s.Value, ",")
			}
		case "-kubeletextraargs":
			d.Flags = d.budget.fields(value)
		}
	}
	d.Endpoint, d.CA = endpoint, ca
	d.Describes = missing(endpoint) || missing(ca)
}

// logical are the lines of a script without comments; a line that ends in a
// backtick goes on in the next.
func logical(text string) []string {
	var list []string
	var open strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if rest, more := strings.CutSuffix(line, "`"); more {
			open.WriteString(rest + " ")
			continue
		}
		list = append(list, open.String()+line)
		open.Reset()
	}
	if open.Len() > 0 {
		list = append(list, open.String())
	}
	return list
}

// psAssignment is "$name = value" or "[string]$name = value".
func psAssignment(line string) (name, value string, ok bool) {
	left, right, ok := strings.Cut(line, "=")
	if !ok {
		return "", "", false
	}
	left = strings.TrimSpace(left)
	if end := strings.IndexByte(left, ']'); strings.HasPrefix(left, "[") && end > 0 {
		left = strings.TrimSpace(left[end+1:])
	}
	name, isVar := strings.CutPrefix(left, "$")
	if !isVar || name == "" || strings.ContainsAny(name, " .:[(") {
		return "", "", false
	}
	return strings.ToLower(name), strings.TrimSpace(right), true
}

// psWords splits a line at blanks outside of quotes. Single quotes keep
// variables as they are, double quotes do not.
func (b *budget) psWords(line string, vars map[string]string) []string {
	var list []string
	var word strings.Builder
	open := false
	var quote byte
	put := func(s string) {
		open = true
		if word.Len()+len(s) > maxWord {
			s = hole
		}
		if word.Len() <= maxWord {
			word.WriteString(s)
		}
	}
	for i := 0; i < len(line) && b.over == nil; {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
			i++
		case quote == 0 && (c == '"' || c == '\''):
			quote, open = c, true
			i++
		case quote != '\'' && c == '$':
			value, n := psExpand(line[i:], vars)
			b.spend(Work, len(value))
			put(value)
			i += n
		case quote == 0 && (c == ' ' || c == '\t' || c == ';'):
			if open {
				list = append(list, word.String())
				word.Reset()
				open = false
			}
			i++
		case quote != '\'' && c == '`' && i+1 < len(line):
			put(line[i+1 : i+2])
			i += 2
		case quote == 0 && c == '(':
			put(hole)
			i += closing(line[i:], '(', ')')
		default:
			put(line[i : i+1])
			i++
		}
	}
	if open {
		list = append(list, word.String())
	}
	return list
}

func psExpand(text string, vars map[string]string) (value string, length int) {
	if strings.HasPrefix(text, "$(") {
		return hole, closing(text, '(', ')')
	}
	if strings.HasPrefix(text, "${") {
		n := closing(text, '{', '}')
		return psValue(strings.TrimSuffix(text[2:n], "}"), vars), n
	}
	n := 1
	for n < len(text) && (isName(text[n], false) || text[n] == ':' && n+1 < len(text) && isName(text[n+1], true)) {
		n++
	}
	if n == 1 {
		return "$", 1
	}
	return psValue(text[1:n], vars), n
}

func psValue(name string, vars map[string]string) string {
	if v, ok := vars[strings.ToLower(name)]; ok {
		return v
	}
	return hole
}
