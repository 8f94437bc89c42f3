package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Alarms is the page of the stack's alarms, from the synthesised template.
func Alarms(template []byte) (string, error) {
	var t struct {
		Resources map[string]struct {
			Type       string
			Properties struct{ AlarmDescription string }
		}
	}
	if err := json.Unmarshal(template, &t); err != nil {
		return "", fmt.Errorf("read the template: %w", err)
	}
	var sections []string
	for id, r := range t.Resources {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		says, do, _ := strings.Cut(r.Properties.AlarmDescription, " Do: ")
		says, meanwhile, _ := strings.Cut(says, " Meanwhile: ")
		if do == "" || meanwhile == "" {
			return "", fmt.Errorf("alarm %s does not say what happens meanwhile, and what to do", id)
		}
		sections = append(sections, fmt.Sprintf("## %s\n\n%s\n\n**Meanwhile:** %s\n\n**Do:** %s\n", strings.TrimSuffix(id, "Alarm"), prose(says), prose(meanwhile), prose(do)))
	}
	if len(sections) == 0 {
		return "", fmt.Errorf("the template has no alarms")
	}
	slices.Sort(sections)
	return generated + "# Alarms\n\nThey go to the stack's topic ([`alarmTopicArn`, `alarmEmail`](settings.md)). None rings when it is made.\n\n" + strings.Join(sections, "\n"), nil
}
