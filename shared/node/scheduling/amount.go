package scheduling

import (
	"math/big"
	"regexp"
	"strings"
)

// amount is a quantity as Kubernetes writes it (apimachinery pkg/api/resource:
// a decimal number, and a suffix or an exponent).
var amount = regexp.MustCompile(`^([+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40}))(?:(m|u|n|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?\d{1,2}))?$`)

// ParseAmount reads a quantity: "100", "500m", "400Gi". What is none is zero.
func ParseAmount(text string) (*big.Rat, bool) {
	m := amount.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return new(big.Rat), false
	}
	number := m[1]
	if m[3] != "" {
		number += "e" + m[3]
	}
	n, ok := new(big.Rat).SetString(number)
	if !ok {
		return new(big.Rat), false
	}
	return n.Mul(n, scale(m[2])), true
}

// scale is what a suffix multiplies by.
func scale(suffix string) *big.Rat {
	power := func(base, exponent int64) *big.Rat {
		return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil))
	}
	switch suffix {
	case "m":
		return new(big.Rat).Inv(power(10, 3))
	case "u":
		return new(big.Rat).Inv(power(10, 6))
	case "n":
		return new(big.Rat).Inv(power(10, 9))
	}
	if binary, ok := strings.CutSuffix(suffix, "i"); ok {
		return power(1024, int64(strings.Index("KMGTPE", binary)+1))
	}
	return power(1000, int64(strings.Index("kMGTPE", suffix)+1)*int64(len(suffix)))
}

// Remaining is how much of a limit is left; false where one of both is no amount.
func Remaining(limit, used string) (*big.Rat, bool) {
	l, ok := ParseAmount(limit)
	if !ok {
		return nil, false
	}
	if used == "" {
		return l, l.Sign() == 0 // nobody has counted yet, and of nothing nothing is left
	}
	u, ok := ParseAmount(used)
	if !ok {
		return nil, false
	}
	return new(big.Rat).Sub(l, u), true
}
