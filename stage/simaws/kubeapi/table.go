package kubeapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// column is one column of the table that kubectl prints. Priority 1 columns
// show with -o wide.
type column struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int    `json:"priority"`
}

type row struct {
	Cells  []any           `json:"cells"`
	Object json.RawMessage `json:"object"`
}

// table writes objects as the API server does for kubectl: the server, not
// kubectl, decides the columns.
func table(k Kind, objects []object, meta map[string]any, now time.Time) ([]byte, error) {
	names, wide, cells := columnsOf(k)
	columns := []column{}
	for _, name := range names {
		c := column{Name: name, Type: "string"}
		if name == "Name" {
			c.Format = "name"
		}
		if slices.Contains(wide, name) {
			c.Priority = 1
		}
		columns = append(columns, c)
	}
	rows := []row{}
	for _, o := range objects {
		part, err := json.Marshal(map[string]any{
			"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": o.tree["metadata"],
		})
		if err != nil {
			return nil, fmt.Errorf("write a row: %w", err)
		}
		rows = append(rows, row{Cells: cells(o, now), Object: part})
	}
	return json.Marshal(map[string]any{
		"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "columnDefinitions": columns, "rows": rows,
	})
}

func columnsOf(k Kind) (names, wide []string, cells func(object, time.Time) []any) {
	switch k.Plural {
	case "nodes":
		return []string{"Name", "Status", "Roles", "Age", "Version", "Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"},
			[]string{"Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"}, nodeCells
	case "pods":
		return []string{"Name", "Ready", "Status", "Restarts", "Age", "IP", "Node"}, []string{"IP", "Node"}, podCells
	}
	return []string{"Name", "Age"}, nil, func(o object, now time.Time) []any { return []any{o.name(), age(o, now)} }
}

// nodeView is the part of a Node that its row shows.
type nodeView struct {
	Spec   struct{ Unschedulable bool }
	Status struct {
		Conditions []struct{ Type, Status string }
		Addresses  []struct{ Type, Address string }
		NodeInfo   struct{ KubeletVersion, OSImage, KernelVersion, ContainerRuntimeVersion string }
	}
}

func nodeCells(o object, now time.Time) []any {
	var n nodeView
	if err := json.Unmarshal(o.raw, &n); err != nil {
		return []any{o.name(), "Unknown", "<none>", age(o, now), "", "<none>", "<none>", "", "", ""}
	}
	status := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type != "Ready" {
			continue
		}
		if status = "NotReady"; c.Status == "True" {
			status = "Ready"
		}
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	const rolePrefix = "node-role.kubernetes.io/"
	var roles []string
	for _, label := range slices.Sorted(maps.Keys(o.meta.Metadata.Labels)) {
		if role, ok := strings.CutPrefix(label, rolePrefix); ok && role != "" {
			roles = append(roles, role)
		}
	}
	if len(roles) == 0 {
		roles = []string{"<none>"}
	}
	address := func(kind string) string {
		for _, a := range n.Status.Addresses {
			if a.Type == kind {
				return a.Address
			}
		}
		return "<none>"
	}
	info := n.Status.NodeInfo
	return []any{o.name(), status, strings.Join(roles, ","), age(o, now), info.KubeletVersion,
		address("InternalIP"), address("ExternalIP"), info.OSImage, info.KernelVersion, info.ContainerRuntimeVersion}
}

// podView is the part of a Pod that its row shows.
type podView struct {
	Spec   struct{ NodeName string }
	Status struct {
		Phase, Reason, PodIP string
		ContainerStatuses    []struct {
			Ready        bool
			RestartCount int
			State        struct{ Waiting *struct{ Reason string } }
		}
	}
}

func podCells(o object, now time.Time) []any {
	var p podView
	if err := json.Unmarshal(o.raw, &p); err != nil {
		return []any{o.name(), "0/0", "Unknown", 0, age(o, now), "<none>", "<none>"}
	}
	status, ready, restarts := p.Status.Phase, 0, 0
	if p.Status.Reason != "" {
		status = p.Status.Reason
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.Ready {
			ready++
		}
		restarts += c.RestartCount
		if c.State.Waiting != nil && c.State.Waiting.Reason != "" {
			status = c.State.Waiting.Reason
		}
	}
	or := func(s string) string {
		if s == "" {
			return "<none>"
		}
		return s
	}
	return []any{o.name(), fmt.Sprintf("%d/%d", ready, max(len(p.Status.ContainerStatuses), 1)), status, restarts, age(o, now),
		or(p.Status.PodIP), or(p.Spec.NodeName)}
}

// age is the time since an object was created, in kubectl's short form.
func age(o object, now time.Time) string {
	created, err := time.Parse(time.RFC3339, o.meta.Metadata.CreationTimestamp)
	if err != nil {
		return "<unknown>"
	}
	d := max(now.Sub(created), 0)
	seconds, minutes, hours := int(d.Seconds()), int(d.Minutes()), int(d.Hours())
	switch {
	case seconds < 2*60:
		return fmt.Sprintf("%ds", seconds)
	case minutes < 10:
		return twoUnits(minutes, "m", seconds%60, "s")
	case minutes < 3*60:
		return fmt.Sprintf("%dm", minutes)
	case hours < 8:
		return twoUnits(hours, "h", minutes%60, "m")
	case hours < 48:
		return fmt.Sprintf("%dh", hours)
	case hours < 8*24:
		return twoUnits(hours/24, "d", hours%24, "h")
	}
	return fmt.Sprintf("%dd", hours/24)
}

// twoUnits leaves out the smaller unit when there is none of it.
func twoUnits(big int, bigUnit string, small int, smallUnit string) string {
	if small == 0 {
		return fmt.Sprintf("%d%s", big, bigUnit)
	}
	return fmt.Sprintf("%d%s%d%s", big, bigUnit, small, smallUnit)
}

// Status is the Kubernetes API's error answer. It is an error, so that the
// decisions of this package can return it. One without a reason is no answer of
// the API, but of the server before it: plain text.
type Status struct {
	Code    int
	Reason  string
	Message string
}

// Error returns the message.
func (s *Status) Error() string { return s.Message }

func (s *Status) body() (body []byte, contentType string) {
	if s.Reason == "" {
		return []byte(s.Message + "\n"), "text/plain; charset=utf-8"
	}
	// The struct holds only strings and an integer.
	body, _ = json.Marshal(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": struct{}{}, "status": "Failure",
		"message": s.Message, "reason": s.Reason, "code": s.Code,
	})
	return body, "application/json"
}

func unauthorized() *Status {
	return &Status{http.StatusUnauthorized, "Unauthorized", "Unauthorized"}
}

// forbidden is the authorizer's answer, in its words.
func forbidden(user string, r request) *Status {
	where := "at the cluster scope"
	if r.namespace != "" {
		where = fmt.Sprintf("in the namespace %q", r.namespace)
	}
	name := ""
	if r.name != "" {
		name = fmt.Sprintf(" %q", r.name)
	}
	resource := r.resource
	if r.group != "" {
		resource += "." + r.group
	}
	return &Status{http.StatusForbidden, "Forbidden", fmt.Sprintf("%s%s is forbidden: User %q cannot %s resource %q in API group %q %s",
		resource, name, user, r.verb, r.target(), r.group, where)}
}

// noResource is for a resource that an API group does not have.
func noResource() *Status {
	return &Status{http.StatusNotFound, "NotFound", "the server could not find the requested resource"}
}

// NotInstalled is the answer for a kind without an installed definition. For
// a group of which nothing is installed, the API server answers as for any path
// that it does not have.
func NotInstalled() *Status { return noPath() }

// noPath is for a path, or an API group, that is not there.
func noPath() *Status {
	return &Status{Code: http.StatusNotFound, Message: "404 page not found"}
}

func notFound(k Kind, name string) *Status {
	target := k.Plural
	if k.Group != "" {
		target += "." + k.Group
	}
	return &Status{http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", target, name)}
}

func badRequest(format string, args ...any) *Status {
	return &Status{http.StatusBadRequest, "BadRequest", fmt.Sprintf(format, args...)}
}

func methodNotAllowed() *Status {
	return &Status{http.StatusMethodNotAllowed, "MethodNotAllowed", "the server does not allow this method on the requested resource"}
}

func internalError(err error) *Status {
	return &Status{http.StatusInternalServerError, "InternalError", "Internal error occurred: " + err.Error()}
}
