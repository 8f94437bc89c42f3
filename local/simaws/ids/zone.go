package ids

import (
	"fmt"
	"strings"
)

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
