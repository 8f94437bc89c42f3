package config

import (
	"fmt"

	"rollcall/shared/spec"
)

// SettingError is one variable that is missing or malformed.
type SettingError struct {
	Variable spec.Variable
	Err      error
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("%s: %v%s", e.Variable, e.Err, hint(e.Variable))
}

func (e *SettingError) Unwrap() error { return e.Err }

func hint(v spec.Variable) string {
	for _, s := range Settings() {
		if s.Variable == v {
			return fmt.Sprintf(" (set it with `-c %s=…` when deploying: %s)", s.Context, s.About)
		}
	}
	return " (the stack sets it: deploy again)"
}
