package settings

import (
	"fmt"
	"strings"
)

// Line is what the make line hands to the CDK command line, before either has
// looked at it.
type Line struct {
	// Context are the words behind each -c: "joinTime=4m".
	Context []string
	// Variables are the names of what stood on the make line: CHANNEL, SET.
	Variables []string
	// NoChannel tells that a target needs no channel (synth, destroy).
	NoChannel bool
}

// placeholder is the channel of a target that needs none.
const placeholder = "C0123456789"

// Read turns the line into a CDK context, and says which words are none. As
// with the CDK command line the last of several counts.
func (l Line) Read() (map[string]any, []error) {
	context := map[string]any{}
	var wrong []error
	if l.NoChannel {
		context["slackChannel"] = placeholder
	}
	for _, text := range l.Context {
		key, value, ok := strings.Cut(text, "=")
		if !ok || !ours.MatchString(key) {
			wrong = append(wrong, notAPair(text))
			continue
		}
		context[key] = value
	}
	for _, v := range l.Variables {
		if err := misspelt(v); err != nil {
			wrong = append(wrong, err)
		}
	}
	return context, wrong
}

// notAPair is about a word of SET.
func notAPair(text string) error {
	var keys []string
	for _, k := range Keys() {
		keys = append(keys, k.Name)
	}
	if meant := nearest(text, keys); meant != "" {
		return fmt.Errorf("%s: %q has no value (make … %s)", makeSet, text, word(meant))
	}
	return fmt.Errorf(`%s: %q is not of the form key=value (make … SET="joinTime=4m logRetentionDays=90": a blank between two settings, none within one)`, makeSet, text)
}

// misspelt says that a variable of the make line was probably meant to be one
// of ours: make itself takes any name, and CLUSTER=prod would watch all
// clusters without a word.
func misspelt(variable string) error {
	known := []string{makeChannel, makeClusters, makeSet}
	meant := nearest(variable, known)
	if meant == "" || meant == variable {
		return nil
	}
	return fmt.Errorf("%s: is not a variable of this Makefile; did you mean %s?", variable, meant)
}
