package authorization

import "strings"

// token is one sign of a pattern, or a run of signs.
type token struct {
	sign byte
	// any is "*": any signs or none. place is a place of the reference to fill
	// in: one sign or more, and no slash unless slashes is set.
	any, place, slashes bool
}

// places whose values may hold slashes.
var slashed = []string{"WithPath", "LogGroupName", "LogStreamName", "SecretId"}

// tokensOf reads an ARN of a policy, whose "*" stand for anything.
func tokensOf(arn string) []token {
	var out []token
	for i := range len(arn) {
		out = append(out, token{sign: arn[i], any: arn[i] == '*'})
	}
	return out
}

// placesOf reads an ARN of the reference, with its places of the form ${Name}.
func placesOf(arn string) []token {
	var out []token
	for arn != "" {
		if rest, ok := strings.CutPrefix(arn, "${"); ok {
			name, after, _ := strings.Cut(rest, "}")
			t := token{place: true}
			for _, end := range slashed {
				t.slashes = t.slashes || strings.HasSuffix(name, end)
			}
			out, arn = append(out, t), after
			continue
		}
		out, arn = append(out, token{sign: arn[0], any: arn[0] == '*'}), arn[1:]
	}
	return out
}

// holds tells whether a place may hold a sign. A colon parts the ARN.
func (t token) holds(sign byte) bool { return sign != ':' && (t.slashes || sign != '/') }

// overlap tells whether some ARN fits both: one written in a policy, and one
// of the reference.
func overlap(written, known []token) bool {
	switch {
	case len(written) == 0 && len(known) == 0:
		return true
	case len(written) > 0 && written[0].any:
		return overlap(written[1:], known) || len(known) > 0 && overlap(written, known[1:])
	case len(known) > 0 && known[0].any:
		return overlap(written, known[1:]) || len(written) > 0 && overlap(written[1:], known)
	case len(written) == 0 || len(known) == 0:
		return false
	case known[0].place:
		return known[0].holds(written[0].sign) && (overlap(written[1:], known[1:]) || overlap(written[1:], known))
	}
	return written[0].sign == known[0].sign && overlap(written[1:], known[1:])
}
