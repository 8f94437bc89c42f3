package kubernetes

import (
	"encoding/base64"
	"strings"

	"rollcall/local/simaws/state"
)

// kubeletFlag is the value of a flag that an instance's user data gives its
// kubelet, empty for none.
func kubeletFlag(w *state.State, id, name string) string {
	data, err := base64.StdEncoding.DecodeString(w.UserData[id])
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if _, value, ok := strings.Cut(line, "- --"+name+"="); ok {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// flagTaints are those that a kubelet registers its node with, as key[=value]:effect.
func flagTaints(w *state.State, id string) []any {
	var out []any
	for _, text := range strings.Split(kubeletFlag(w, id, "register-with-taints"), ",") {
		key, effect, ok := strings.Cut(text, ":")
		if !ok {
			continue
		}
		taint := map[string]any{"key": key, "effect": effect}
		if name, value, ok := strings.Cut(key, "="); ok {
			taint["key"], taint["value"] = name, value
		}
		out = append(out, taint)
	}
	return out
}

// flagLabels are those that a kubelet gives its node.
func flagLabels(w *state.State, id string) map[string]string {
	out := map[string]string{}
	for _, text := range strings.Split(kubeletFlag(w, id, "node-labels"), ",") {
		if key, value, ok := strings.Cut(text, "="); ok {
			out[key] = value
		}
	}
	return out
}
