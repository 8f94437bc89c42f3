package messagecheck

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/world"
)

// Facts are all that was answered to the detectors of one look, as text: what a message
// quotes must stand in it. A zero value has none; Answered may be called at the same time.
type Facts struct {
	World
	// Affected are the instances that the cause of the message has.
	Affected []string

	claims    []claim
	mu        sync.Mutex
	told      strings.Builder
	raw, text string // as it was answered, and with what is packed in it
	// minutes are the moments in it as a message and a log show them, instants as they are.
	minutes  map[string]bool
	instants map[int64]bool
}

// Answered takes what AWS answered to a call.
func (f *Facts) Answered(out any, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		var api smithy.APIError
		if errors.As(err, &api) {
			f.told.WriteString(api.ErrorCode() + " " + api.ErrorMessage() + "\n")
		}
		f.told.WriteString(err.Error() + "\n")
		return
	}
	if body, err := json.Marshal(out); err == nil {
		f.told.Write(body)
		f.told.WriteByte('\n')
	}
}

// Look completes them with what Kubernetes answers, and with the world's own counts.
func (f *Facts) Look(w *world.World) error {
	of, err := Of(w)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.World = of
	for _, cluster := range w.Clusters() {
		for _, plural := range append(kinds(w, cluster), "nodes") {
			list, err := w.Kubernetes(cluster, plural)
			if errors.Is(err, kubestate.ErrNoKind) {
				continue
			}
			if err != nil {
				return fmt.Errorf("list the %s of %s: %w", plural, cluster, err)
			}
			for _, o := range list.Items {
				f.told.Write(o)
				f.told.WriteByte('\n')
			}
		}
	}
	// On the wire the times of shifts are numbers.
	if body, err := json.Marshal(shifts(w)); err == nil {
		f.told.Write(body)
	}
	f.claims = claims()
	f.raw = f.told.String()
	f.text = plain(f.raw)
	f.minutes, f.instants = map[string]bool{}, map[int64]bool{}
	for _, m := range moment.FindAllString(f.text, -1) {
		// EC2 tells of a state's reason "(2026-11-20 14:49:30 GMT)".
		at, err := time.Parse(time.RFC3339, strings.Replace(strings.Replace(m, " GMT", "Z", 1), " ", "T", 1))
		if err == nil {
			f.minutes[at.UTC().Format("15:04")], f.minutes[at.UTC().Format(time.TimeOnly)] = true, true
			f.instants[at.Unix()] = true
		}
	}
	return nil
}

// shifts are what is shifted away from a zone.
func shifts(w *world.World) any {
	defer w.Hold()()
	return w.State.File.ArcZonalShift
}

// kinds are the plurals of what a cluster has, beside its nodes.
func kinds(w *world.World, cluster string) []string {
	defer w.Hold()()
	return slices.Sorted(maps.Keys(w.State.Kubernetes[cluster].Objects))
}

var (
	moment = regexp.MustCompile(`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2}| GMT)`)
	// packed is what may be text in base64: user data, console output, a certificate.
	packed = regexp.MustCompile(`"([A-Za-z0-9+/]{24,}={0,2})"`)
)

// plain is a text with what is packed in it beside it: base64, policies as IAM writes them
// (RFC 3986, docs.aws.amazon.com/IAM/latest/APIReference/API_GetRolePolicy.html), JSON in
// JSON.
func plain(text string) string {
	var b strings.Builder
	b.WriteString(text)
	for _, m := range packed.FindAllStringSubmatch(text, -1) {
		b.WriteString("\n" + unpacked(m[1]))
	}
	if open, err := url.PathUnescape(strings.ReplaceAll(text, "%\"", "%25\"")); err == nil {
		b.WriteString("\n" + open)
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(b.String())
}

func unpacked(s string) string {
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(raw)
}

// rolesText is aws-auth's mapRoles.
func (f *Facts) rolesText() string {
	_, text, _ := strings.Cut(f.raw, `"mapRoles":"`)
	text, _, _ = strings.Cut(strings.ReplaceAll(text, `\"`, "'"), `"`)
	return strings.ReplaceAll(text, `\n`, "\n")
}

// mapRoles are its entries.
func (f *Facts) mapRoles() []string {
	list := regexp.MustCompile(`(?m)^\s*- (?:rolearn|userarn|username|groups)\b`).Split(f.rolesText(), -1)
	return list[1:]
}

// entry holds that the nth entry of mapRoles has the words.
func (f *Facts) entry(n int, words string) string {
	list := f.mapRoles()
	if n < 1 || n > len(list) {
		return fmt.Sprintf("mapRoles has %d entries", len(list))
	}
	if e := list[n-1]; !strings.Contains(e, words) {
		return fmt.Sprintf("that entry is %q", e)
	}
	return ""
}

// part holds that a part of some user data has the words on that line; line 0 is any.
func (f *Facts) part(n, line int, words string) string {
	for _, m := range packed.FindAllStringSubmatch(f.raw, -1) {
		parts := []string{unpacked(m[1])}
		if b := regexp.MustCompile(`boundary="?([^"\s]+)"?`).FindStringSubmatch(parts[0]); b != nil {
			parts = strings.Split(parts[0], "--"+b[1])[1:]
		}
		if n > len(parts) {
			continue
		}
		if _, body, headed := strings.Cut(parts[n-1], "\n\n"); headed && len(parts) > 1 {
			parts[n-1] = body
		}
		lines := strings.Split(parts[n-1], "\n")
		if line == 0 || line <= len(lines) && strings.Contains(lines[line-1], words) {
			return ""
		}
	}
	return "no user data has that"
}

// says tells that the words stand in an answer as they are.
func (f *Facts) says(words string) bool { return strings.Contains(f.text, words) }

// names tells that they stand there as a name, and not within another word.
func (f *Facts) names(name string) bool {
	for rest := f.text; ; {
		at := strings.Index(rest, name)
		if at < 0 {
			return false
		}
		end := at + len(name)
		if (at == 0 || !inWord(rest[at-1])) && (end == len(rest) || !inWord(rest[end])) {
			return true
		}
		rest = rest[end:]
	}
}

func inWord(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '+' || b == '_'
}
