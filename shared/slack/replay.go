package slack

import (
	"rollcall/shared/incident"
	"rollcall/shared/shell"
)

// replay tells with which command an incident is diagnosed again from what was kept of it.
func (p *page) replay(i incident.Incident) {
	if i.Evidence == nil {
		return
	}
	p.add(p.label("Diagnose again").code(shell.Command("rollcall", "replay", i.Key.Name())).plain(" with what was read then, also when it is all gone.").section())
}
