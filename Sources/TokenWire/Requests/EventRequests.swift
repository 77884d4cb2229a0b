internal import CTokenProtos
package import TokenModel

extension WatchEvents: WireRequest {
    package static let type = WireType(sso__watch_events__init)

    package init(_ value: WatchEvents?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            clientID: try fields.text("client_id", value?.clientID),
            sharingGroup: try fields.sharingGroup(value?.sharingGroup))
        let feed = fields.number("feed", value?.position?.feed)
        let generation = fields.number("generation", value?.position?.generation)
        position = feed.map { EventPosition(feed: $0, generation: generation ?? 0) }
    }
}

extension WatchEvents.Reply: WireMessage {
    package static let type = WireType(sso__watch_events_reply__init)

    package init(_ value: WatchEvents.Reply?, _ fields: inout WireFields) throws(TokenError) {
        let feed = fields.number("feed", value?.position.feed) ?? 0
        let generation = fields.number("generation", value?.position.generation) ?? 0
        var events = try fields.messages("events", value?.events)
        // The positions of the events are in the reply's feed, which is named once.
        for index in events.indices { events[index].position.feed = feed }
        self.init(position: EventPosition(feed: feed, generation: generation), events: events)
    }
}

extension AgentEvent: WireMessage {
    package static let type = WireType(sso__agent_event__init)

    package init(_ value: AgentEvent?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            // An app that does not know what has changed reads everything again.
            try fields.choice("kind", value?.kind) ?? .resynchronise,
            position: EventPosition(
                feed: value?.position.feed ?? 0,
                generation: fields.number("generation", value?.position.generation) ?? 0),
            time: fields.number("time", value?.time) ?? 0,
            account: try fields.message("account", value?.account),
            clientID: try fields.text("client_id", value?.clientID),
            storeState: try fields.choice("store_state", value?.storeState))
    }
}
