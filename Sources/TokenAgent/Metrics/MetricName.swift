internal import TokenModel

/// The measurements of the agent. `docs/metrics.md` explains each; names are never reused for something else.
enum MetricName: String, CaseIterable {
    case info = "sso_agent_info"
    case uptime = "sso_agent_uptime_seconds"
    case requests = "sso_agent_requests_total"
    case hitTime = "sso_agent_hit_seconds"
    case throttled = "sso_agent_throttled_requests_total"
    case sharedRedemptions = "sso_agent_shared_redemptions_total"
    case tokenRequests = "sso_agent_token_requests_total"
    case tokenRequestTime = "sso_agent_token_request_seconds"
    case redemptionsInProgress = "sso_agent_redemptions_in_progress"
    case signInsInProgress = "sso_agent_sign_ins_in_progress"
    case connections = "sso_agent_connections"
    case connectionsAccepted = "sso_agent_connections_accepted_total"
    case connectionsRefused = "sso_agent_connections_refused_total"
    case connectionsClosed = "sso_agent_connections_closed_total"
    case publishedSockets = "sso_agent_published_sockets"
    case keptReplies = "sso_agent_kept_replies"
    case keptReplyBytes = "sso_agent_kept_reply_bytes"
    case subscriptions = "sso_agent_event_subscriptions"
    case watchers = "sso_agent_event_requests_waiting"
    case accounts = "sso_agent_accounts"
    case credentials = "sso_agent_credentials"
    case storeLoaded = "sso_agent_store_loaded"
    case unsavedChanges = "sso_agent_store_unsaved_changes"
    case storeWrites = "sso_agent_store_writes_total"
    case storeCommits = "sso_agent_store_commits_total"
    case storeCommitTime = "sso_agent_store_commit_seconds"
    case loopDelay = "sso_agent_event_loop_delay_seconds"
    case scrapes = "sso_agent_scrapes_total"

    var kind: AgentMetric.Kind {
        if rawValue.hasSuffix("_total") { return .counter }
        switch self {
        case .hitTime, .tokenRequestTime, .storeCommitTime, .loopDelay: return .histogram
        default: return .gauge
        }
    }

    /// A description of the measurement on one line, for the scraper.
    var help: String {
        switch self {
        case .info: "The version of the agent; the value is 1."
        case .uptime: "The time since the start of the agent."
        case .requests: "Requests that were answered."
        case .hitTime: "The time of hits that repeat an earlier request, from the read to the write; of each 64th."
        case .throttled: "Silent requests that were answered with an earlier error of the token endpoint."
        case .sharedRedemptions: "Silent requests that waited for a redemption which another request had begun."
        case .tokenRequests: "Requests to token endpoints that have ended."
        case .tokenRequestTime:
            "The time of requests to token endpoints, retries included; without the outcome pending."
        case .redemptionsInProgress: "Redemptions of the store's refresh tokens in progress."
        case .signInsInProgress: "Sign-ins in progress."
        case .connections: "Open connections."
        case .connectionsAccepted: "Connections that were accepted."
        case .connectionsRefused: "Connections that were refused before a byte was read."
        case .connectionsClosed: "Connections that were closed because of a limit."
        case .publishedSockets: "Published sockets."
        case .keptReplies: "Replies that are kept for repeated requests."
        case .keptReplyBytes: "The memory of these replies."
        case .subscriptions: "Different subscriptions to events that the agent keeps."
        case .watchers: "Requests that wait for an event."
        case .accounts: "Accounts in all sharing groups."
        case .credentials: "Access tokens and refresh tokens in all sharing groups, expired ones included."
        case .storeLoaded: "1 while requests are answered from the loaded store, otherwise 0."
        case .unsavedChanges: "1 while changes wait to be written after a failure, or lost records again, otherwise 0."
        case .storeWrites: "Writes that were to be made durable; those that come at the same time share a transaction."
        case .storeCommits: "Transactions of the store."
        case .storeCommitTime: "The time of transactions of the store, with the flush to the disk."
        case .loopDelay:
            "How late the event loop was for a timer of each second; measured while there is a metrics socket."
        case .scrapes: "Requests at the metrics socket."
        }
    }
}
