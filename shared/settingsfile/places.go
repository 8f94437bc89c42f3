package settingsfile

// Places are the settings' places in the file, by their keys: "slack.channel" for slackChannel.
func Places() map[string]string {
	list := map[string]string{}
	for _, r := range rows() {
		list[r.key] = r.place
	}
	return list
}
