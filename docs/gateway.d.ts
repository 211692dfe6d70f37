// The wire of hermes-gateway. Made by `hermes-gateway contracts typescript`; do not edit.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A live session. Times in seconds since the Unix epoch. */
export interface ActiveSession {
  id: string;
  session_key: string;
  current: boolean;
  title: string;
  model: string;
  preview: string;
  message_count: number;
  started_at: number;
  last_active: number;
  status: "idle" | "starting" | "waiting" | "working" | "streaming" | "resuming";
}

/** Yes. */
export interface Alive {
  ok: true;
}

/** List the approvals that wait, oldest first. */
export interface ApprovalPending {
  session_id: string;
  profile?: string | null;
}

/** Those approvals. */
export interface ApprovalPendingResult {
  approvals: PendingApproval[];
}

/** Say that an approval is on the screen. */
export interface ApprovalReceived {
  session_id: string;
  profile?: string | null;
  request_id: string;
}

/** Whether it still waits for its answer. */
export interface ApprovalReceivedResult {
  acknowledged: boolean;
}

/** Ask whether a command may run, in Hermes's words. */
export interface ApprovalRequest {
  session_id: string;
  replayed?: true | null;
  request_id: string;
  [key: string]: unknown;
}

/** Answer an approval by its id, or the oldest one, or all. */
export interface ApprovalRespond {
  session_id: string;
  profile?: string | null;
  choice?: string | null;
  all?: boolean | null;
  request_id?: string | null;
}

/** How many were settled by it, durably. */
export interface ApprovalRespondResult {
  resolved: number;
}

/** `once`, `session`, `always` or `deny`; for `all` that wait, or this one. */
export interface ApprovalResult {
  choice: "once" | "session" | "always" | "deny";
  all?: boolean | null;
  [key: string]: unknown;
}

/** None was, because the turn is over. */
export interface Cancelled {
  outcome: "cancelled";
  [key: string]: unknown;
}

/** Settle one answer of a batch until all are; null skips the question. */
export interface ClarifyLock {
  request_id: string;
  question_id: string;
  answer?: unknown;
  profile?: string | null;
}

/** `ok` with the questions that are left, or `expired`: the request is over. */
export interface ClarifyLockResult {
  status: "ok" | "expired";
  remaining?: string[] | null;
}

/** Ask one to five questions at once; `answers` holds those locked so far (P-30). */
export interface ClarifyRequest {
  session_id: string;
  replayed?: true | null;
  questions: { [key: string]: unknown }[];
  answers?: { [key: string]: unknown } | null;
  [key: string]: unknown;
}

/** An answer or null for each question; none at all cancels. */
export interface ClarifyResult {
  answers?: { [key: string]: string | string[] | null } | null;
  [key: string]: unknown;
}

/** Say once what this client can do (P-6). */
export interface ClientCapabilities {
  server_requests?: boolean;
  acp_updates?: boolean;
  blobs?: boolean;
  compact?: boolean;
  limit_bytes?: number | null;
}

/** The questions that may be asked of a client. */
export interface ClientCapabilitiesResult {
  server_requests: string[];
  declines_not_shown: boolean;
}

/** A filled form, a refusal, or neither. */
export interface ElicitationResult {
  action: "accept" | "decline" | "cancel";
  content?: { [key: string]: unknown } | null;
  [key: string]: unknown;
}

/** Something happened in a session. Events of no session have no number (P-12). */
export interface EventNotification {
  type: string;
  session_id?: string | null;
  seq?: number | null;
  ts?: number | null;
  payload?: { [key: string]: unknown };
  [key: string]: unknown;
}

/** How far the log goes, and whether a reader can go on from where it was (P-15, P-16). */
export interface Extent {
  latest_seq: number;
  next: number;
  has_more: boolean;
  truncated: boolean;
  snapshot_required: boolean;
  epoch: string;
  replay_epoch: string;
}

/** Whatever the asker understands. */
export interface FreeResult {
  [key: string]: unknown;
}

/** Show the token as the first frame, where no header can be set (P-7). */
export interface GatewayAuthenticate {
  token?: string | null;
}

/** Ask for a sign of life (P-5). */
export interface GatewayPing {
}

/** The payload of the first event that a peer hears (P-5). */
export interface GatewayReady {
  skin: { [key: string]: unknown };
  change_events: boolean;
  replay_epoch: string;
  heartbeat: boolean;
  server: ServerName;
  features: string[];
}

/** The turn that runs: what was asked, and what has been answered so far. */
export interface Inflight {
  user: string;
  assistant: string;
  streaming: boolean;
  corrections?: string[] | null;
}

/** What a session works with, and whether it works. */
export interface LiveInfo {
  model: string;
  provider: string;
  cwd: string;
  branch: string | null;
  tools: { [key: string]: string[] };
  skills: { [key: string]: string[] };
  running: boolean;
  turn_started_at: number | null;
  title: string;
  stored_session_id: string;
  version: string;
  usage: Usage;
  agent: string;
  [key: string]: unknown;
}

/** Nothing can be recorded at present, so nothing new is accepted (S-9). */
export interface LogDegraded {
  reason: string;
}

/** Recording goes on (S-9). */
export interface LogRecovered {
}

/** An event as it stands in the log (P-11). In compact form it leaves out the session. */
export interface LoggedEvent {
  session_id?: string | null;
  seq: number;
  ts: number;
  type: string;
  payload: { [key: string]: unknown };
  [key: string]: unknown;
}

/** A row of a conversation: `user`, `assistant` or `tool`. */
export interface Message {
  role: string;
  text?: string | null;
  content?: unknown;
  tool_call_id?: string | null;
  timestamp?: number | null;
  row_id?: number | null;
  name?: string | null;
  context?: string | null;
  args?: { [key: string]: unknown } | null;
  reasoning?: string | null;
  [key: string]: unknown;
}

/** A question that nobody has answered yet (P-17). */
export interface OpenRequest {
  id: string;
  method: string;
  params: { [key: string]: unknown };
}

/** An approval that waits for its answer. */
export interface PendingApproval {
  request_id: string;
  command: string;
  description: string;
  choices?: string[];
  [key: string]: unknown;
}

/** Ask whether an ACP agent may use a tool; params as the agent sent them. */
export interface PermissionRequest {
  session_id: string;
  replayed?: true | null;
  options: { [key: string]: unknown }[];
  [key: string]: unknown;
}

/** Which option was chosen, or that the question was withdrawn. */
export interface PermissionResult {
  outcome: Selected | Cancelled;
  [key: string]: unknown;
}

/** Give the agent text, or content blocks; the answer comes once they are in the log. */
export interface PromptSubmit {
  session_id: string;
  profile?: string | null;
  text?: string | null;
  content?: { [key: string]: unknown }[] | null;
  submission_ref?: string | null;
  display_kind?: string | null;
  interrupted?: boolean | null;
  queued?: boolean | null;
  surface?: string | null;
  voice_context?: string | null;
  voice_turn?: boolean | null;
  title_preview?: string | null;
  truncate_before_user_ordinal?: number | null;
  truncate_before_row_id?: number | null;
  truncate_before_message_id?: string | null;
  confirm_truncate?: boolean | null;
  confirm_empty_truncate?: boolean | null;
  confirm_deep_truncate?: boolean | null;
  rebind_survivor_row_ids?: number[] | null;
  _hosted_task?: unknown;
  _turn_author?: unknown;
  _hosted_terminal_callback?: unknown;
}

/** Where the prompt stands in the log, and for a repeated `submission_ref` its outcome. */
export interface PromptSubmitResult {
  status: "streaming" | "queued" | "steered" | "redirected";
  seq: number;
  outcome?: string | null;
}

/** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
export interface Question {
  session_id: string;
  replayed?: true | null;
  [key: string]: unknown;
}

/** The prompt whose turn is next. */
export interface QueuedPrompt {
  user: string;
}

/** A message that a session starts with, in Hermes. */
export interface SeedMessage {
  role: string;
  content?: string | null;
  text?: string | null;
  display_kind?: string | null;
  [key: string]: unknown;
}

/** The option that was chosen. */
export interface Selected {
  outcome: "selected";
  optionId: string;
  [key: string]: unknown;
}

/** Which program this is. */
export interface ServerName {
  name: string;
  version: string;
}

/** Attach to a live session (P-21). */
export interface SessionActivate {
  session_id: string;
  profile?: string | null;
  cols?: number | null;
  omit_messages?: boolean;
}

/** List the sessions whose agent runs. */
export interface SessionActiveList {
  current_session_id?: string | null;
  profile?: string | null;
}

/** The live sessions, the one of the newest event first. */
export interface SessionActiveListResult {
  sessions: ActiveSession[];
}

/** Read a piece of a large string that an event refers to (P-34). */
export interface SessionBlob {
  session_id: string;
  profile?: string | null;
  ref: string;
  offset?: number;
  length?: number | null;
}

/** A piece of *size* bytes in all, from *offset* on; ask on with *next*. All in bytes of UTF-8. */
export interface SessionBlobResult {
  ref: string;
  size: number;
  offset: number;
  text: string;
  next: number;
  has_more: boolean;
}

/** Make a new session of the past of another, up to the end of a turn. */
export interface SessionBranch {
  session_id: string;
  profile?: string | null;
  name?: string | null;
  count?: number | null;
  at_seq?: number | null;
  idempotency_key?: string | null;
}

/** The new session; its agent runs if the other's was hosted here. */
export interface SessionBranchResult {
  session_id: string;
  stored_session_id: string;
  title: string;
  parent: string;
  forked_at: number;
  message_count: number;
  messages: Message[];
  info: LiveInfo;
}

/** History ends here; what follows is live (P-19). */
export interface SessionCaughtUp {
  session_id: string;
  seq: number;
}

/** End a live session; its log stays (P-23). */
export interface SessionClose {
  session_id: string;
  profile?: string | null;
}

/** Whether there was something to end. */
export interface SessionCloseResult {
  closed: boolean;
  messages: unknown[];
}

/** Set one thing of those that `session.opened` says the agent has: a mode, a model, an option. */
export interface SessionConfigure {
  session_id: string;
  profile?: string | null;
  mode?: string | null;
  model?: string | null;
  option?: string | null;
  value?: unknown;
}

/** How the agent was told, and what it answered. */
export interface SessionConfigureResult {
  method: string;
  answer: unknown;
}

/** What became of the words; `rejected`: no turn runs, so that they are a prompt to submit. */
export interface SessionCorrectionResult {
  status: "queued" | "redirected" | "rejected";
  text: string;
}

/** Start a session with an agent, and attach to it (P-21). */
export interface SessionCreate {
  agent?: string | null;
  cwd?: string | null;
  title?: string | null;
  cols?: number | null;
  profile?: string | null;
  source?: string | null;
  cwd_explicit?: boolean | null;
  messages?: SeedMessage[] | null;
  parent_session_id?: string | null;
  model?: string | null;
  provider?: string | null;
  reasoning_effort?: string | null;
  fast?: boolean | null;
  service_tier?: string | null;
  close_on_disconnect?: boolean;
  hidden?: boolean;
  room_plumbing?: boolean;
  follow_profile_config?: boolean;
  idempotency_key?: string | null;
}

/** Delete a session that is not live; its id is never used again. */
export interface SessionDelete {
  session_id: string;
  profile?: string | null;
}

/** The id that is gone. */
export interface SessionDeleteResult {
  deleted: string;
}

/** The session that was followed is gone (P-20a). */
export interface SessionDeleted {
  session_id: string;
}

/** Pruning has overtaken this reader, which has to start from a snapshot (P-20a). */
export interface SessionEventsReset {
  session_id: string;
  floor: number;
  snapshot_required: true;
}

/** Read the events after `last_seen`; neither attaches nor consumes (P-13 to P-17). */
export interface SessionEventsSince {
  session_id: string;
  profile?: string | null;
  last_seen?: number | null;
  replay_epoch?: string | null;
  limit?: number | null;
  limit_bytes?: number | null;
}

/** Events, ascending and without holes, and the questions that are open. */
export interface SessionEventsSinceResult {
  latest_seq: number;
  next: number;
  has_more: boolean;
  truncated: boolean;
  snapshot_required: boolean;
  epoch: string;
  replay_epoch: string;
  session_id?: string | null;
  events: LoggedEvent[];
  count: number;
  open_requests: OpenRequest[];
}

/** Count what the log holds. */
export interface SessionEventsStats {
  profile?: string | null;
}

/** Counts, bytes on the disk, and Hermes's limits, where this log has none: 2^53 - 1. */
export interface SessionEventsStatsResult {
  sessions: number;
  events: number;
  bytes: number;
  max_per_session: number;
  max_bytes_per_session: number;
  max_bytes_process: number;
}

/** Receive every event after `last_seen`, from history and live (P-19). */
export interface SessionEventsSubscribe {
  session_id: string;
  profile?: string | null;
  last_seen?: number | null;
  replay_epoch?: string | null;
}

/** Receive no more events of a session. */
export interface SessionEventsUnsubscribe {
  session_id: string;
  profile?: string | null;
}

/** Whether there was a subscription to end. */
export interface SessionEventsUnsubscribeResult {
  unsubscribed: boolean;
}

/** Return the rows of a conversation. */
export interface SessionHistory {
  session_id: string;
  profile?: string | null;
}

/** All of them, as of the newest event. */
export interface SessionHistoryResult {
  count: number;
  messages: Message[];
}

/** Stop the running turn, and withdraw its questions (P-31). */
export interface SessionInterrupt {
  session_id: string;
  profile?: string | null;
  expected_hosted_task_id?: string | null;
}

/** Whether a turn was running. */
export interface SessionInterruptResult {
  status: "interrupted" | "not_interrupted";
  interrupted: boolean;
}

/** List the sessions, the one of the newest event first. */
export interface SessionList {
  limit?: number | null;
  title?: string | null;
  include_hidden?: boolean;
  profile?: string | null;
}

/** The sessions. */
export interface SessionListResult {
  sessions: SessionRow[];
}

/** Name the session of the newest event. */
export interface SessionMostRecent {
  profile?: string | null;
}

/** That session, or null. */
export interface SessionMostRecentResult {
  session_id: string | null;
  title?: string | null;
  started_at?: number | null;
  source?: string | null;
}

/** Stop the turn that runs, and go on with these words instead. */
export interface SessionRedirect {
  session_id: string;
  profile?: string | null;
  text: string;
  submission_ref?: string | null;
}

/** Attach to a session, and make it live again if it is not (P-21, P-38). */
export interface SessionResume {
  session_id: string;
  profile?: string | null;
  cols?: number | null;
  source?: string | null;
  lazy?: boolean;
  defer_history?: boolean;
  omit_messages?: boolean;
  eager_build?: boolean;
  close_on_disconnect?: boolean;
  inline_images?: boolean;
}

/** A session in a list. Times in seconds since the Unix epoch. */
export interface SessionRow {
  id: string;
  title: string;
  preview?: string | null;
  started_at: number;
  last_active: number;
  message_count?: number | null;
  source: string;
  latest_seq: number;
  status: "idle" | "running" | "needs_input" | "dormant";
  owner?: string | null;
}

/** Describe a session in a few lines of text. */
export interface SessionStatus {
  session_id: string;
  profile?: string | null;
}

/** The text. */
export interface SessionStatusResult {
  output: string;
}

/** Add words to the turn that runs; an ACP agent hears them when its turn is over. */
export interface SessionSteer {
  session_id: string;
  profile?: string | null;
  text: string;
  submission_ref?: string | null;
}

/** Read the title of a session, or change it. */
export interface SessionTitle {
  session_id: string;
  profile?: string | null;
  title?: string | null;
}

/** The title as it is now. */
export interface SessionTitleResult {
  title: string;
  session_key: string;
  pending?: boolean | null;
}

/** Read the transcript at a sequence number, page by page (P-26). */
export interface SessionTranscript {
  session_id: string;
  profile?: string | null;
  at?: number | null;
  after?: string | null;
  offset?: number;
  limit_bytes?: number | null;
}

/** A page of entries; the first page holds the rest of the transcript too. */
export interface SessionTranscriptResult {
  transcript: { [key: string]: unknown };
  piece?: TranscriptPiece | null;
  next: string | null;
  has_more: boolean;
  seq: number;
  digest: string;
  fold_version: number;
}

/** Say what a session has used. */
export interface SessionUsage {
  session_id: string;
  profile?: string | null;
}

/** Tokens, context and cost, as far as the agent says. */
export interface SessionUsageResult {
  model?: string;
  input?: number;
  output?: number;
  reasoning?: number;
  prompt?: number;
  completion?: number;
  total?: number;
  calls?: number;
  context_used?: number | null;
  context_max?: number | null;
  context_percent?: number | null;
  cost_usd?: number | null;
  [key: string]: unknown;
}

/** A session as of `latest_seq`; what is newer comes as events (P-21). */
export interface Snapshot {
  session_id: string;
  stored_session_id: string;
  session_key: string;
  resumed?: string | null;
  latest_seq: number;
  replay_epoch: string;
  message_count: number;
  messages: Message[];
  messages_omitted: boolean;
  info: LiveInfo;
  running: boolean;
  status: "idle" | "waiting" | "working";
  started_at: number;
  turn_started_at: number | null;
  inflight: Inflight | null;
  queued: QueuedPrompt | null;
  pending_approval: PendingApproval | null;
  todo_state: TodoState | null;
  open_requests: OpenRequest[];
}

/** The plan as it stands. */
export interface TodoState {
  todos: { [key: string]: unknown }[];
  revision: number;
}

/** Some of the JSON of what is longer than a page, for clients with `blobs`. In bytes of UTF-8. */
export interface TranscriptPiece {
  entry: string | null;
  size: number;
  offset: number;
  text: string;
  next: number;
  has_more: boolean;
}

/** What a session has used. */
export interface Usage {
  model?: string;
  input?: number;
  output?: number;
  reasoning?: number;
  prompt?: number;
  completion?: number;
  total?: number;
  calls?: number;
  context_used?: number | null;
  context_max?: number | null;
  context_percent?: number | null;
  cost_usd?: number | null;
  [key: string]: unknown;
}

/** A value: a secret one is handed on and never recorded (P-33). */
export interface ValueResult {
  value: string;
  [key: string]: unknown;
}

/** What a client may call. */
export interface Methods {
  /** List the approvals that wait, oldest first. */
  "approval.pending": { params: ApprovalPending; result: ApprovalPendingResult };
  /** Say that an approval is on the screen. */
  "approval.received": { params: ApprovalReceived; result: ApprovalReceivedResult };
  /** Answer an approval by its id, or the oldest one, or all. */
  "approval.respond": { params: ApprovalRespond; result: ApprovalRespondResult };
  /** Settle one answer of a batch until all are; null skips the question. */
  "clarify.lock": { params: ClarifyLock; result: ClarifyLockResult };
  /** Say once what this client can do (P-6). */
  "client.capabilities": { params: ClientCapabilities; result: ClientCapabilitiesResult };
  /** Show the token as the first frame, where no header can be set (P-7). */
  "gateway.authenticate": { params: GatewayAuthenticate; result: Alive };
  /** Ask for a sign of life (P-5). */
  "gateway.ping": { params: GatewayPing; result: Alive };
  /** Give the agent text, or content blocks; the answer comes once they are in the log. */
  "prompt.submit": { params: PromptSubmit; result: PromptSubmitResult };
  /** Attach to a live session (P-21). */
  "session.activate": { params: SessionActivate; result: Snapshot };
  /** List the sessions whose agent runs. */
  "session.active_list": { params: SessionActiveList; result: SessionActiveListResult };
  /** Read a piece of a large string that an event refers to (P-34). */
  "session.blob": { params: SessionBlob; result: SessionBlobResult };
  /** Make a new session of the past of another, up to the end of a turn. */
  "session.branch": { params: SessionBranch; result: SessionBranchResult };
  /** End a live session; its log stays (P-23). */
  "session.close": { params: SessionClose; result: SessionCloseResult };
  /** Set one thing of those that `session.opened` says the agent has: a mode, a model, an option. */
  "session.configure": { params: SessionConfigure; result: SessionConfigureResult };
  /** Start a session with an agent, and attach to it (P-21). */
  "session.create": { params: SessionCreate; result: Snapshot };
  /** Delete a session that is not live; its id is never used again. */
  "session.delete": { params: SessionDelete; result: SessionDeleteResult };
  /** Read the events after `last_seen`; neither attaches nor consumes (P-13 to P-17). */
  "session.events.since": { params: SessionEventsSince; result: SessionEventsSinceResult };
  /** Count what the log holds. */
  "session.events.stats": { params: SessionEventsStats; result: SessionEventsStatsResult };
  /** Receive every event after `last_seen`, from history and live (P-19). */
  "session.events.subscribe": { params: SessionEventsSubscribe; result: Extent };
  /** Receive no more events of a session. */
  "session.events.unsubscribe": { params: SessionEventsUnsubscribe; result: SessionEventsUnsubscribeResult };
  /** Return the rows of a conversation. */
  "session.history": { params: SessionHistory; result: SessionHistoryResult };
  /** Stop the running turn, and withdraw its questions (P-31). */
  "session.interrupt": { params: SessionInterrupt; result: SessionInterruptResult };
  /** List the sessions, the one of the newest event first. */
  "session.list": { params: SessionList; result: SessionListResult };
  /** Name the session of the newest event. */
  "session.most_recent": { params: SessionMostRecent; result: SessionMostRecentResult };
  /** Stop the turn that runs, and go on with these words instead. */
  "session.redirect": { params: SessionRedirect; result: SessionCorrectionResult };
  /** Attach to a session, and make it live again if it is not (P-21, P-38). */
  "session.resume": { params: SessionResume; result: Snapshot };
  /** Describe a session in a few lines of text. */
  "session.status": { params: SessionStatus; result: SessionStatusResult };
  /** Add words to the turn that runs; an ACP agent hears them when its turn is over. */
  "session.steer": { params: SessionSteer; result: SessionCorrectionResult };
  /** Read the title of a session, or change it. */
  "session.title": { params: SessionTitle; result: SessionTitleResult };
  /** Read the transcript at a sequence number, page by page (P-26). */
  "session.transcript": { params: SessionTranscript; result: SessionTranscriptResult };
  /** Say what a session has used. */
  "session.usage": { params: SessionUsage; result: SessionUsageResult };
}

/** What a client may be asked. */
export interface ServerRequests {
  /** Ask whether a command may run, in Hermes's words. */
  approval: { params: ApprovalRequest; result: ApprovalResult };
  /** Ask one to five questions at once; `answers` holds those locked so far (P-30). */
  clarify: { params: ClarifyRequest; result: ClarifyResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  "elicitation/create": { params: Question; result: ElicitationResult };
  /** Ask whether an ACP agent may use a tool; params as the agent sent them. */
  "session/request_permission": { params: PermissionRequest; result: PermissionResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  "display.install.sudo": { params: Question; result: ValueResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  "preview.act": { params: Question; result: ValueResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  "preview.read": { params: Question; result: ValueResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  secret: { params: Question; result: ValueResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  setup_beat: { params: Question; result: FreeResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  sudo: { params: Question; result: ValueResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  "terminal.read": { params: Question; result: ValueResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  "theme.apply": { params: Question; result: ValueResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  "theme.pick": { params: Question; result: FreeResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  tour: { params: Question; result: ValueResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  "vault.code": { params: Question; result: ValueResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  "vault.save_login": { params: Question; result: ValueResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  "vault.unlock_prompt": { params: Question; result: ValueResult };
  /** Ask the user something in a session. `replayed` marks one that was asked before (P-19). */
  "window.read": { params: Question; result: ValueResult };
}

/** What a client is told. */
export interface Notifications {
  /** Something happened in a session. Events of no session have no number (P-12). */
  event: { params: EventNotification };
  /** Nothing can be recorded at present, so nothing new is accepted (S-9). */
  "log.degraded": { params: LogDegraded };
  /** Recording goes on (S-9). */
  "log.recovered": { params: LogRecovered };
  /** History ends here; what follows is live (P-19). */
  "session.caught_up": { params: SessionCaughtUp };
  /** The session that was followed is gone (P-20a). */
  "session.deleted": { params: SessionDeleted };
  /** Pruning has overtaken this reader, which has to start from a snapshot (P-20a). */
  "session.events.reset": { params: SessionEventsReset };
}
