package schema

import (
	"regexp"
)

// FileID is the pattern that Slack names in its refusal (slackapi/python-slack-sdk issue 1521).
var FileID = regexp.MustCompile(`^[F][A-Z0-9]{8,}$`)

// slackFile is a file by its id or by its address, not by both.
func slackFile(v *validator, at string, value any) {
	o, ok := value.(map[string]any)
	if !ok {
		v.fail(at, "must be an object")
		return
	}
	v.object(at, o, schema{"url": {false, text(1, maxImageURL)}, "id": {false, func(v *validator, at string, value any) {
		if id, _ := value.(string); !FileID.MatchString(id) {
			v.fail(at, "input must match regex pattern: %s", FileID)
		}
	}}})
	if (o["id"] == nil) == (o["url"] == nil) {
		v.fail(at, "one of url and id is required")
	}
}
