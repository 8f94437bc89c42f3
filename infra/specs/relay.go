package specs

import (
	"encoding/json"
	"reflect"
	"time"

	"rollcall/shared/relay"
	"rollcall/shared/spec"

	relayspec "rollcall/functions/relay/spec"
)

// RelayTag is the tag of a relay's function whose value tells of which template and program
// it is.
const RelayTag = "RollcallRelay"

// relayed is what a relay does, as far as who asks it can tell.
type relayed struct {
	Paths []asked
	// Request and Answer are what the two say to each other.
	Request, Answer []string
	MostBody        int
	Told            []spec.Variable
	Memory          spec.MiB
	Timeout         time.Duration
}

type asked struct {
	Path string
	Keys []string
}

// RelayDigest is the same for all releases whose relays do the same: which lists they hand
// on, how they are asked and answer, what they are told, and how large they are.
func RelayDigest() string { return relayOf().digest() }

func relayOf() relayed {
	s := relayspec.Spec()
	r := relayed{
		Request: fields[relay.Request](), MostBody: relay.MostBody, Told: s.Environment, Memory: s.Memory, Timeout: s.Timeout,
	}
	r.Answer = append(append(fields[relay.Answer](), fields[relay.Refusal]()...), fields[relay.Failure]()...)
	for _, p := range relay.Paths() {
		r.Paths = append(r.Paths, asked{p.String(), p.Keys()})
	}
	return r
}

// fields are those of a struct, as they are written.
func fields[T any]() []string {
	var list []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		list = append(list, f.Tag.Get("json")+" "+f.Type.String())
	}
	return list
}

func (r relayed) digest() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // texts and numbers alone
	}
	return short(text)
}
