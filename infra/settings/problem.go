package settings

import (
	"errors"
	"fmt"

	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// Problem is one thing that is wrong with what an operator wrote, with the
// word of the make line that says it.
type Problem struct {
	// Key is the CDK context key: "joinTime".
	Key string
	Err error
}

func (p Problem) Error() string {
	return fmt.Sprintf("%s: %v (make … %s)", name(p.Key), p.Err, word(p.Key))
}

func (p Problem) Unwrap() error { return p.Err }

// The variables of the make line that an operator sets.
const (
	makeChannel  = "CHANNEL"
	makeClusters = "CLUSTERS"
	makeSet      = "SET"
)

// name is what the make line calls a key.
func name(key string) string {
	switch key {
	case contextOf(config.Channel):
		return makeChannel
	case contextOf(config.Clusters):
		return makeClusters
	}
	return key
}

// word is how a key is set on the make line.
func word(key string) string {
	switch n := name(key); n {
	case makeChannel:
		return n + "=C0123456789"
	case makeClusters:
		return n + "=prod,dev"
	}
	return fmt.Sprintf("%s=%q", makeSet, key+"=…")
}

// problem judges one of the functions' settings alone, so that each mistake is
// said with its own key.
func problem(s config.Setting, environment map[spec.Variable]string) error {
	_, err := config.Load(func(name string) string { return environment[spec.Variable(name)] }, []spec.Variable{s.Variable})
	return asProblem(err)
}

// asProblem says what package config refuses in the words of the make line.
func asProblem(err error) error {
	var wrong *config.SettingError
	if !errors.As(err, &wrong) {
		return err
	}
	for _, s := range config.Settings() {
		if s.Variable == wrong.Variable {
			return Problem{Key: s.Context, Err: fmt.Errorf("%w. %s", wrong.Err, s.About)}
		}
	}
	return err
}
