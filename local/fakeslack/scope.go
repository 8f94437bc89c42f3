package fakeslack

import (
	"slices"
	"strings"
)

// scopesOf names the scopes of a method; any one of them is enough. A method
// that is not in the table needs none.
func scopesOf(method string) []string {
	switch method {
	case "chat.postMessage", "chat.postEphemeral", "chat.update", "chat.delete":
		return []string{"chat:write"}
	case "conversations.history", "conversations.replies":
		return []string{"channels:history", "groups:history"}
	case "conversations.info", "conversations.list":
		return []string{"channels:read", "groups:read"}
	case "users.info":
		return []string{"users:read"}
	case "usergroups.users.list":
		return []string{"usergroups:read"}
	case "files.getUploadURLExternal", "files.completeUploadExternal":
		return []string{"files:write"}
	case "reactions.add":
		return []string{"reactions:write"}
	}
	return nil
}

// allScopes is every scope that the stand-in asks for somewhere.
func allScopes() []string {
	return []string{
		"chat:write", "chat:write.customize", "channels:history", "groups:history", "channels:read",
		"groups:read", "users:read", "usergroups:read", "files:write", "files:read", "reactions:write", "commands",
	}
}

// checkScope refuses when granted has none of needed.
func checkScope(granted, needed []string) error {
	if len(needed) == 0 || slices.ContainsFunc(needed, func(s string) bool { return slices.Contains(granted, s) }) {
		return nil
	}
	return &apiError{code: "missing_scope", needed: needed[0], provided: strings.Join(granted, ",")}
}
