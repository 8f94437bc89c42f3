package messagecheck

import (
	"fmt"
	"regexp"
	"strings"
)

// term is "28 nodes × 2 interfaces × 10 addresses" or "5 m5.large x 20".
const term = `[\d,]+ [^\s=;:]+(?: [×x] [\d,]+(?: (?:nodes?|interfaces?|addresses))?)+`

// The forms in which a message calculates.
var (
	// equation is "8 nodes × 2 interfaces × 30 addresses + 28 nodes × 2 interfaces = 536"
	// and "9 m5.4xlarge x 60 + 5 m5.large x 20 = 640 addresses".
	equation = regexp.MustCompile(`\b(` + term + `(?: \+ ` + term + `)*) = ([\d,]+)`)
	factors  = regexp.MustCompile(`(?:^|[×x] )([\d,]+)`)

	holding = regexp.MustCompile(`\b([\d,]+) dead nodes? holds? ([\d,]+) address`)
	ofDead  = regexp.MustCompile(`\b([\d,]+) interfaces? (?:of|that the VPC CNI made on) ([\d,]+) (?:dead )?nodes?\b`)
	frees   = regexp.MustCompile(`\bDeleting (it|all ([\d,]+)) frees ([\d,]+)\b`)
	makes   = regexp.MustCompile(`\b([\d,]+) (?:is|are) free, and .*; deleting them makes it ([\d,]+)`)
	needed  = regexp.MustCompile(`\b([\d,]+) launches needed ([\d,]+) addresses, (subnet-[0-9a-f]+) had ([\d,]+)`)
	had     = regexp.MustCompile(`\b(subnet-[0-9a-f]+) had ([\d,]+)`)
)

// arithmetic holds what a message calculates: that it comes out, that it begins with what
// the message says elsewhere, and that the result is the one of the first line.
func arithmetic(lines []Line) (found []string) {
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	var held, dead, of int
	var burst []string
	if len(lines) > 0 {
		if m := holding.FindStringSubmatch(lines[0].Text); m != nil {
			dead, held = amount(m[1]), amount(m[2])
		}
		burst = needed.FindStringSubmatch(lines[0].Text)
	}
	for _, l := range lines {
		if l.Copied {
			continue
		}
		for _, m := range equation.FindAllStringSubmatch(l.Text, -1) {
			if is := sum(m[1]); is != amount(m[2]) {
				say("%q, and it is %d", m[0], is)
			}
			if burst != nil && m[2] != burst[2] {
				say("%q, and the first line says %s", m[0], burst[2])
			}
		}
		if burst != nil {
			for _, m := range had.FindAllStringSubmatch(l.Text, -1) {
				if m[1] == burst[3] && m[2] != burst[4] {
					say("%q, and the first line says %s", m[0], burst[4])
				}
			}
		}
		if held == 0 || l.Label != "Why" {
			continue
		}
		if m := ofDead.FindStringSubmatch(l.Text); m != nil {
			of = amount(m[1])
			if amount(m[2]) != dead {
				say("%q, and the first line says %d nodes", m[0], dead)
			}
		}
		if m := frees.FindStringSubmatch(l.Text); m != nil {
			if amount(m[3]) != held {
				say("%q, and the first line says that they hold %d", m[0], held)
			}
			all := 1
			if m[2] != "" {
				all = amount(m[2])
			}
			if of > 0 && all != of {
				say("%q, and there are %d", m[0], of)
			}
		}
		if m := makes.FindStringSubmatch(l.Text); m != nil && amount(m[1])+held != amount(m[2]) {
			say("%q, and %d and %d are %d", m[0], amount(m[1]), held, amount(m[1])+held)
		}
	}
	return found
}

// sum is what "8 nodes × 2 interfaces + 3 m5.large x 20" comes to.
func sum(terms string) (all int) {
	for _, term := range strings.Split(terms, " + ") {
		product := 1
		for _, f := range factors.FindAllStringSubmatch(term, -1) {
			product *= amount(f[1])
		}
		all += product
	}
	return all
}
