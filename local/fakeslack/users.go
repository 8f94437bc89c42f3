package fakeslack

func (s *Server) authTest(params) (answer, error) {
	a := answer{
		"url": s.url + "/", "team": s.cfg.Workspace, "team_id": teamID, "user": s.cfg.Bot.Name,
		"user_id": s.cfg.Bot.UserID, "bot_id": s.cfg.Bot.BotID, "is_enterprise_install": false,
	}
	// "When working against a team within an Enterprise organization, you'll also
	// find their enterprise_id here" (docs.slack.dev/reference/methods/auth.test).
	if s.cfg.Enterprise != "" {
		a["enterprise_id"] = s.cfg.Enterprise
	}
	return a, nil
}

// home is the workspace of a person, and its organization.
func (s *Server) home(u User) (team, enterprise string) {
	if u.Team == "" {
		return teamID, s.cfg.Enterprise
	}
	return u.Team, u.Enterprise
}

func (s *Server) usersInfo(p params) (answer, error) {
	if err := p.need("user"); err != nil {
		return nil, err
	}
	team, guest := teamID, false
	id, name, zone, bot := s.cfg.Bot.UserID, s.cfg.Bot.Name, "UTC", true
	if p["user"] != id {
		u := s.user(p["user"])
		if u == nil {
			return nil, &apiError{code: "user_not_found"}
		}
		team, _ = s.home(*u)
		guest = u.Guest
		id, name, zone, bot = u.ID, u.Name, u.Timezone, false
	}
	return answer{"user": answer{
		"id": id, "team_id": team, "name": name, "real_name": name, "tz": zone, "is_bot": bot, "deleted": false,
		"is_restricted": guest, "is_ultra_restricted": false,
		"profile": answer{"real_name": name, "display_name": name},
	}}, nil
}

func (s *Server) usergroupsUsersList(p params) (answer, error) {
	if err := p.need("usergroup"); err != nil {
		return nil, err
	}
	for _, g := range s.cfg.Groups {
		if g.ID == p["usergroup"] {
			return answer{"users": g.Users}, nil
		}
	}
	return nil, &apiError{code: "no_such_subteam"}
}
