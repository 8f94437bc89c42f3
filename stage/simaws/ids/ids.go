// Package ids makes the ids and other made-up values of a simulated account.
// The same seed, and the same name, always give the same.
package ids

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
)

// Source makes the ids of new resources. The same seed makes the same ids, so a
// run can be repeated.
type Source struct{ rng *rand.Rand }

// New makes ids that a seed decides.
func New(seed uint64) *Source {
	return &Source{rng: rand.New(rand.NewPCG(seed, 0x726f6c6c63616c6c))}
}

// Hex is n hexadecimal digits.
func (s *Source) Hex(n int) string {
	b := make([]byte, (n+1)/2)
	for i := range b {
		b[i] = byte(s.rng.UintN(256))
	}
	return hex.EncodeToString(b)[:n]
}

// EC2 is an id in EC2's long form: the prefix, a zero and 16 digits.
func (s *Source) EC2(prefix string) string { return prefix + "-0" + s.Hex(16) }

// UUID is an id in the form that Auto Scaling and EventBridge use.
func (s *Source) UUID() string {
	return fmt.Sprintf("%s-%s-%s-%s-%s", s.Hex(8), s.Hex(4), s.Hex(4), s.Hex(4), s.Hex(12))
}

// MAC is a hardware address in the range that EC2 uses in its documentation.
func (s *Source) MAC() string {
	h := s.Hex(10)
	return fmt.Sprintf("02:%s:%s:%s:%s:%s", h[0:2], h[2:4], h[4:6], h[6:8], h[8:10])
}

// Chance is a number from 0 to 1 that some words decide: the same words give
// the same number, whatever else happens in the world.
func Chance(words ...string) float64 {
	h := fnv.New64a()
	h.Write([]byte(strings.Join(words, "/")))
	// FNV leaves the high bits of similar words alike; one multiplication mixes
	// them (Fibonacci hashing).
	mixed := h.Sum64()
	mixed = (mixed ^ mixed>>32) * 0x9e3779b97f4a7c15
	return float64(mixed>>11) / float64(uint64(math.MaxUint64)>>11)
}

// SHA256 is the hexadecimal digest of a text.
func SHA256(name string) string {
	s := sha256.Sum256([]byte(name))
	return hex.EncodeToString(s[:])
}

// NameInARN is the name at the end of an ARN.
func NameInARN(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// OfName is an id in the form of a UUID that a name always has.
func OfName(name string) string {
	s := SHA256(name)
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:32]
}

// ZoneID is the AZ id that a zone is given where a world says none, such as
// usw2-az1 for us-west-2a.
func ZoneID(zone string) string {
	parts := strings.Split(zone, "-")
	if len(parts) != 3 || len(parts[2]) < 2 {
		return ""
	}
	direction := parts[1][:1]
	if parts[1] == "northeast" || parts[1] == "southeast" || parts[1] == "northwest" || parts[1] == "southwest" {
		direction = parts[1][:1] + parts[1][5:6]
	}
	letter := parts[2][len(parts[2])-1] - 'a' + 1
	return fmt.Sprintf("%s%s%s-az%d", parts[0], direction, parts[2][:len(parts[2])-1], letter)
}
