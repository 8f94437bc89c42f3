package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/spec"
)

// Load reads the variables that a function's Spec names, and no others. All
// that is wrong is said at once: a missing or malformed setting is an error
// that names the variable, the CDK context key that sets it, and what it
// may be.
func Load(getenv func(string) string, wanted []spec.Variable) (Config, error) {
	c := Config{Region: getenv("AWS_REGION")}
	var wrong []error
	clock, err := parseClock(getenv(string(StageClock)))
	if err != nil {
		wrong = append(wrong, fmt.Errorf("%s: %w", StageClock, err))
	}
	c.Clock = clock
	if c.Endpoints, err = parseEndpointOverrides(getenv(string(StageEndpoints))); err != nil {
		wrong = append(wrong, fmt.Errorf("%s: %w", StageEndpoints, err))
	}
	for _, v := range wanted {
		text, err := Unpack(strings.TrimSpace(getenv(string(v))))
		if err != nil {
			wrong = append(wrong, &SettingError{Variable: v, Err: err})
			continue
		}
		if text == "" {
			text = defaultOf(v)
		}
		if err := c.set(v, text); err != nil {
			wrong = append(wrong, &SettingError{Variable: v, Err: err})
		}
	}
	if len(wrong) == 0 && slices.Contains(wanted, Remedies) && slices.Contains(wanted, RemedyRoles) {
		if err := c.autoNeedsRoles(); err != nil {
			wrong = append(wrong, &SettingError{Variable: RemedyRoles, Err: err})
		}
	}
	if c.Hub.Account != "" {
		c.Hub.Region = c.Region
	}
	if len(wrong) == 0 && slices.Contains(wanted, ExternalID) && len(c.Others()) > 0 && c.ExternalID == "" {
		wrong = append(wrong, &SettingError{Variable: ExternalID, Err: errNoExternalID})
	}
	if len(wrong) > 0 {
		return Config{}, fmt.Errorf("settings: %w", errors.Join(wrong...))
	}
	return c, nil
}

var errMissing = errors.New("is not set")

// errNoExternalID: without one, whoever may assume roles in the hub's account could be
// made to act for another customer of it (IAM user guide, "The confused deputy problem").
var errNoExternalID = errors.New("is wanted where there are spokes")
