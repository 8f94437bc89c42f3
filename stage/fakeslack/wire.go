package fakeslack

import (
	"slices"
	"strings"
)

// teamID is the workspace's id.
const teamID = "T0STAGE001"

// wireContent writes what a message says. That is all of it that chat.update
// answers: its type in npm @slack/web-api, which is made from real answers, has
// neither a timestamp nor a thread.
func (s *Server) wireContent(m *Message, metadata bool) answer {
	a := answer{"type": "message", "user": m.User, "text": m.Text, "team": teamID}
	if m.Bot {
		a["bot_id"], a["app_id"] = s.cfg.Bot.BotID, s.cfg.Bot.AppID
		a["bot_profile"] = answer{
			"id": s.cfg.Bot.BotID, "app_id": s.cfg.Bot.AppID, "name": s.cfg.Bot.Name, "team_id": teamID, "deleted": false,
		}
	}
	if len(m.Blocks) > 0 {
		a["blocks"] = m.Blocks
	}
	if len(m.Attachments) > 0 {
		a["attachments"] = m.Attachments
	}
	if metadata && len(m.Metadata) > 0 {
		a["metadata"] = m.Metadata
	}
	if m.Edited != nil {
		a["edited"] = m.Edited
	}
	if len(m.Files) > 0 {
		files := make([]answer, len(m.Files))
		for i, f := range m.Files {
			files[i] = s.wireFile(f)
		}
		a["files"], a["upload"] = files, true
	}
	return a
}

// wire writes a message as the Web API does.
func (s *Server) wire(c *channel, m *Message, metadata bool) answer {
	a := s.wireContent(m, metadata)
	a["ts"] = m.TS
	if m.Broadcast {
		a["subtype"] = "thread_broadcast"
	}
	if m.ThreadTS != "" {
		a["thread_ts"] = m.ThreadTS
		if parent := c.find(m.ThreadTS); parent != nil {
			a["parent_user_id"] = parent.User
		}
		return a
	}
	if replies := c.replies(m.TS); len(replies) > 0 {
		var users []string
		for _, r := range replies {
			if !slices.Contains(users, r.User) {
				users = append(users, r.User)
			}
		}
		a["thread_ts"], a["reply_count"] = m.TS, len(replies)
		a["reply_users"], a["reply_users_count"] = users, len(users)
		a["latest_reply"], a["is_locked"], a["subscribed"] = replies[len(replies)-1].TS, false, true
	}
	return a
}

func (s *Server) wireFile(f File) answer {
	ext := ""
	if i := strings.LastIndexByte(f.Name, '.'); i >= 0 {
		ext = strings.ToLower(f.Name[i+1:])
	}
	a := answer{
		"id": f.ID, "name": f.Name, "title": f.Title, "mimetype": f.Mimetype, "filetype": ext,
		"size": f.Size, "user": s.cfg.Bot.UserID, "mode": "hosted", "is_external": false,
		"url_private": s.url + "/files-pri/" + f.ID + "/" + fileName(f.Name),
	}
	if f.AltText != "" {
		a["alt_txt"] = f.AltText
	}
	return a
}
