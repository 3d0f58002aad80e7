//! The phrases themselves: data, reviewed like data. Each severity was checked against 3,354 real tools, so that what honest
//! servers write stays below `High`.

use super::Kind;
use crate::severity::Severity::{self, Critical, High, Low, Medium};

/// Words that several phrases share.
pub(super) const CLASSES: &[(&str, &str)] = &[
    ("call", "call|calling|called|invoke|invoking|invoked|use|using|used|run|running|execute|executing|trigger"),
    ("tool", "tool|tools|function|functions"),
    ("not", "not|never|dont|mustnt|shouldnt|cannot|avoid"),
    ("user", "user|users|human|humans|person|operator|customer"),
    ("old", "previous|prior|above|earlier|preceding|foregoing|former|original|initial|system|developer|existing"),
    (
        "rule",
        "instruction|instructions|prompt|prompts|directive|directives|guideline|guidelines|orders|rules|training|programming",
    ),
    (
        "give",
        "send|sending|include|including|pass|passing|provide|providing|append|appending|attach|attaching|forward|forwarding|\
         upload|uploading|submit|insert|inserting|put|putting|embed|embedding|copy|copying|post|posting|exfiltrate|transmit|\
         supply|supplying|place|add|adding|encode|paste|report",
    ),
    (
        "take",
        "read|reading|open|opening|cat|load|fetch|access|retrieve|get|find|collect|gather|extract|dump|locate|search|scan|\
         harvest|steal|grab|copy|check",
    ),
    (
        "keyfile",
        ".ssh|id_rsa|id_ed25519|id_dsa|.aws|.netrc|.pgpass|.gnupg|.kube|.git_credentials|etc_passwd|etc_shadow|mcp_json|\
         .bash_history|.zsh_history|authorized_keys|wallet_dat|claude_desktop_config|.npmrc|.pypirc|.docker_config",
    ),
    ("envfile", ".env|env_file|environment_file"),
    (
        "secret",
        "credential|credentials|password|passwords|passphrase|secrets|api_key|api_keys|apikey|apikeys|access_token|\
         access_tokens|auth_tokens|session_token|session_tokens|session_cookies|cookies|private_key|private_keys|ssh_key|\
         ssh_keys|environment_variables|env_vars|env_variables|seed_phrase|mnemonic|connection_string|connection_strings|\
         .env|tokens",
    ),
    (
        "talk",
        "conversation_history|chat_history|message_history|dialogue_history|entire_conversation|full_conversation|\
         whole_conversation|complete_conversation|conversation_so_far|conversation_transcript|chat_transcript|\
         conversation_verbatim|previous_messages|prior_messages|earlier_messages|full_chat|entire_chat|\
         full_context|entire_context|complete_context",
    ),
    ("told", "instruction|instructions|prompt|prompts|directive|directives|guideline|guidelines|orders"),
    ("shell", "rm_rf|whoami|curl|wget|chmod|nc|netcat|crontab|sudo|powershell|base64|eval|bash_c|ssh_keygen"),
    (
        "slot",
        "parameter|parameters|argument|arguments|field|input|request|body|url|header|query|note|notes|metadata|payload",
    ),
    ("model", "ai|llm|llms|model|models|assistant|assistants|agent|agents|claude|gpt|chatgpt|copilot|cursor|gemini"),
];

/// What is looked for.
pub(super) const PHRASES: &[(Kind, Severity, &[&str])] = &[
    (
        Kind::Override,
        Critical,
        &[
            "ignore|ignoring|disregard|disregarding|forget|forgetting|discard|neglect|overlook ..3 {old} ..2 {rule}",
            "not|dont|never ..1 follow|obey|heed ..2 {old} ..1 {rule}",
            "these|this|following|below {rule}|message ..2 override|overrides|supersede|supersedes|replace|replaces ..3 {old}|all|any|your|other ..2 {rule}",
            "forget|ignore|disregard everything|anything|all|what ..2 above|before|previously|earlier|told|said|learned|know",
            "override|bypass|circumvent|disable|evade|ignore ..1 your ..2 {rule}|guardrails|safeguards|restrictions|alignment|filters|safety|policies",
            "bypass|circumvent|disable|evade|ignore ..2 safety|ethical|content ..1 {rule}|guardrails|safeguards|restrictions|policy|policies|checks",
        ],
    ),
    (
        Kind::Override,
        High,
        &[
            "ignore|disregard all|any|every|other|those ..1 {told} !in|inside|within|contained|embedded|found|from|that|returned|it|they|present|which|on|appearing|hidden",
            "your new|real|actual|true|updated|only|primary {rule}|task|goal|objective|purpose|mission is|are",
            "new {told} from|supersede|override|replace|take|apply|begin|follow",
            "override|overrule|replace ..1 system_prompt|system_message|system_instructions and ..1 follow|obey|use|do|act|only",
            "override|overriding|bypass|bypassing|ignore|disable all ..1 safety|security ..1 measures|checks|controls|protocols|restrictions|policies|guardrails",
            "ignore|disregard|override|forget|lift ..1 {old} constraints|restrictions|limits|limitations|safeguards",
            "obey the_following|these|this|only|all|every|its|my",
            "ignora|ignorez|ignoriere|ignorar|negeer|ignorieren|olvida|oubliez|vergiss|vergeet ..4 instrucciones|instructions|anweisungen|instrucoes|instructies|regels|reglas ..2 anteriores|previas|precedentes|vorherigen|vorigen|anterior|eerdere",
            "ignoriere|vergiss|negeer|vergeet ..2 vorherigen|bisherigen|vorige|eerdere ..1 anweisungen|regeln|instructies|regels",
            "follow these|this|my new|hidden|secret {rule}",
            "instead|regardless of ..3 {user} ..2 says|said|asks|asked|wants|wanted|requests|requested|request|instructs|instructed|instructions|told",
            "take|takes|taking|has|have|having precedence|priority over ..4 {rule}|else",
            "higher priority than ..4 {rule}|request",
            "{not} ..1 follow|obey|do|fulfill|complete what|the ..1 {user} asks|asked|wants|requested|request|requests|instructions",
        ],
    ),
    (
        Kind::Concealment,
        High,
        &[
            "{not} ..1 tell|inform|notify|alert|warn|telling|informing|notifying|alerting ..1 {user} about|of|anything|this|what|why|how|it",
            "{not} ..1 tell|inform|notify|alert|warn|telling|informing|notifying ..1 {user} $",
            "{not} ..1 tell|inform|notify|let ..1 {user} ..1 that you|this|these|it|we",
            "{not} ..1 let ..1 {user} know|see|notice|find",
            "{not} ..1 mention|reveal|disclose|discuss|expose|describe|report|display|show|output|print|explain|share|mentioning|revealing|disclosing ..6 to|with ..1 {user} !id|ids|account|who|role",
            "{not} ..1 mention|reveal|disclose|discuss|acknowledge|describe|mentioning|revealing|disclosing that|how|why you|we",
            "{not} ..1 mention|reveal|disclose|discuss|acknowledge|repeat|output|show|display ..1 this|these|those|any ..2 {rule}|step|steps|note|block|section|requirement|tag|tags|text|message",
            "~ without ..1 telling|informing|mentioning|alerting|disclosing|revealing ..3 {user}",
            "~ without ..1 {user} knowledge|knowing|awareness|noticing|seeing",
            "hide|conceal|hiding|concealing ..4 from ..1 {user}",
            "keep|keeping ..4 hidden|secret|invisible|concealed|private|confidential from ..1 {user}",
            "{user} must|should|does|do|need|needs|will|can not|never ..2 know|notice|learn|realize|suspect|find_out|aware",
            "{user} is|are not ..1 aware|notified|informed|told of|about|this|that",
            "secretly|covertly|stealthily|surreptitiously ..2 {take}|{give}|{call}|record|store|save|track|monitor|log",
            "{not} ..1 leave|leaving ..1 trace|traces|evidence",
            "no ..1 digas|diga|menciones|informes ..3 usuario",
            "ne ..2 dites|dis|mentionnez|mentionne|informez ..2 pas ..4 utilisateur",
            "sag|sage|sagen|erwahne|erwahnen|informiere|informieren ..3 benutzer|nutzer|anwender ..2 nicht|nichts",
        ],
    ),
    (
        Kind::Concealment,
        Medium,
        &[
            "{not} ..1 tell|telling|inform|notify|let ..1 {user}",
            "{not} ..1 mention|reveal|disclose|discuss ..1 this|it|these|them !parameter|field|value|argument|option",
            "~ without ..1 notifying|involving ..1 the|your {user}",
            "upset|upsetting|alarm|alarming|scare|scaring|worry|worrying ..1 {user}",
            "silently|quietly|discreetly ..1 execute|call|invoke|read|collect|gather|copy|extract|open|fetch|send|include|pass|append|attach|forward|upload|submit|insert|exfiltrate|transmit",
            "keep this|these|it ..1 between us|confidential|to_yourself",
            "secretly|covertly|stealthily|surreptitiously",
        ],
    ),
    (
        Kind::Exfiltration,
        Critical,
        &[
            "{take} ..8 {keyfile} ..12 {give}",
            "{give}|{take}|return ..3 {keyfile} ..4 to|as|in|into|through|via ..4 {slot}|response|reply|answer|https|http|@",
            "{give} ..3 content|contents|text|data|copy|value|values|output of|from ..4 {keyfile}|{envfile}",
            "content|contents ..1 of|from ..3 {keyfile} ..6 in|as|into|to|through|via ..4 {slot}",
            "content|contents ..2 from|of reading ..2 {keyfile}|ssh|.env",
            "exfiltrate|exfiltrating|steal|stealing|harvest|harvesting|leak|leaking ..4 {keyfile}|{envfile}|{secret}|{talk}|data|files|information",
            "{take} ..4 {envfile} ..8 {give} ..6 {slot}|https|http|@",
            "{take} ..4 {secret} ..6 {give} ..4 to|as|in|into ..4 {slot}|https|http|@|server|endpoint|webhook",
        ],
    ),
    (
        Kind::Exfiltration,
        High,
        &[
            "must|always|first|also|before|then|should|additionally|need_to ..6 {take}|{give} ..5 {keyfile}",
            "{take} ..4 {envfile} ..8 {give}",
            "{give}|encode|summarize|repeat|echo ..4 {talk}",
            "{give}|repeat|echo|print|reveal|output|return ..3 your ..1 system_prompt|instructions|system_message|initial_prompt|hidden_prompt|prompt",
            "{give}|repeat|echo|print|reveal ..2 system_prompt|system_message|developer_message|developer_prompt verbatim|above|in|as|here|exactly|word",
            "{give}|return|output|print|show ..3 content|contents of|from ..4 {keyfile}|{envfile}",
            "read|reading|fetch|fetching|open|opening|retrieve|retrieving|load|loading ..20 forward|forwarding|send|sending|attach|attaching|submit|submitting|upload|uploading ..1 its|their content|contents",
            "read|reading|fetch|fetching|open|opening|load|loading ..12 and ..4 pass|passing|include|including|put|append|insert ..1 its|their content|contents ..3 as|in|into|to|via",
            "{give} ..3 all|any|every|full|entire|raw|complete|found|available|other ..3 {secret} ..8 in|as|into|to|via|through ..4 {slot}|https|http|@|server|endpoint|webhook",
            "{give} ..4 output|outputs|result|results|response|responses|data of|from ..2 other|another|all|any|every|previous ..2 {tool}|servers",
            "always|must|also|additionally|secretly|silently|automatically|first ..4 send|forward|upload|post|transmit|copy|report|exfiltrate ..8 to ..2 http|https|@",
            "always|must|also|automatically|every|all|silently ..6 bcc|cc|blind_copy ..8 @",
            "bcc ..6 @",
            "all|every|each ..1 email|emails|mail|mails|message|messages|payment|payments|transfer|transfers|transaction|transactions must|should|to ..4 sent|send|go|forwarded|routed|redirected ..2 to ..2 @|http|https|account|0x",
            "{take}|{give} ..4 {keyfile}|{envfile} ..3 before|first|prior",
        ],
    ),
    (
        Kind::Exfiltration,
        Medium,
        &[
            "^ {take}|{give} ..5 {keyfile}",
            "{give} ..2 all|every|any|entire|available|found ..2 {secret}",
            "{give} ..3 {user} ..1 {secret} ..6 in|as|into|to|via ..3 {slot}|https|http|@|server|endpoint",
            "{give}|summarize ..4 conversation|chat context|content|contents|log|so",
            "{give} ..6 {user} last|previous|recent|earlier|all ..1 message|messages|prompts|questions",
            "{give} ..2 the? {user} ..1 original|exact|full|verbatim|entire|complete|last|latest message|prompt|request|question|query|messages",
        ],
    ),
    (Kind::Exfiltration, Low, &["{take}|{give} ..5 {keyfile}"]),
    (
        Kind::Steering,
        High,
        &[
            "supersede|supersedes|replace|replaces|overrides|deprecates|obsoletes ..1 all|any|every|other|existing ..2 {tool}",
            "other|all|existing|those ..1 {tool} are|is|have|has ..2 deprecated|unsafe|broken|obsolete|insecure|compromised|forbidden|banned|malicious|outdated",
            "when|whenever|while|if|once|since|because|as_long_as this ..1 {tool}|server|mcp is|was ..1 available|present|installed|loaded|connected|listed|active|enabled ..10 must|always|never|should|all|instead",
            "{not} ..1 {call} ..2 any other|another {tool}",
            "{not} ever? {call} ..3 {tool} ..3 instead|because|unless ..3 this",
            "when|whenever|if|every_time ..4 is|are|gets called|used|invoked|executed|run ..4 change|set|replace|redirect|send|forward|bcc|cc|copy|use|add ..8 @|http|https",
            "this {tool} changes|modifies|overrides|alters|affects|redefines ..4 other|all|any ..2 {tool}",
            "when|whenever|if|before|after|every_time|each_time ..3 {call} ..3 other|another|any other? {tool} ..8 must|always|also|first",
            "{call}|invoke this ..1 {tool} ..2 for|on|with|before|after|in every|each|any|all single? ..1 message|messages|response|responses|reply|turn|prompt|request|requests|query|question ..3 regardless|even|no_matter|silently",
        ],
    ),
    (
        Kind::Steering,
        Medium,
        &[
            "before|prior_to ..2 {call} ..2 any|all|every|each ..1 other ..2 {tool}",
            "before|prior_to any|all|every|each other ..2 {tool}",
            "must|always ..1 {call} this ..1 {tool}? first",
            "must|always ..1 be? {call} ..2 first $",
            "must|always ..1 be? {call} ..2 first before|prior",
            "{call} this ..1 {tool}? ..3 before|prior_to ..1 anything|everything|all_else",
            "{not} ..1 {call} ..1 any|the other ..2 {tool}",
            "instead of|rather_than ..1 {call}? ..1 any|all|other|another|builtin|built_in|native|standard|default ..2 {tool}",
            "rather than ..1 {call}? ..1 any|all|other|another|builtin|built_in|native|standard|default ..2 {tool}",
            "prefer|prioritize|favor this ..1 {tool}? over ..3 {tool}|others|alternatives",
            "every|each ..1 message|response|reply|turn|prompt|answer|conversation|session|request ..6 {call} this",
            "{call} this ..3 before|after|at|on|for|during|in ..3 every|each ..1 message|response|reply|turn|prompt|answer|conversation|session|interaction|request",
            "when|whenever|if|once this ..1 {tool}|server|mcp is|was available|present|installed|loaded|connected|listed",
            "{call} this ..1 {tool} ..3 regardless|no_matter",
            "even if ..3 {user} ..3 not ..2 ask|asked|asks|request|requested|mention|mentioned|want",
        ],
    ),
    (
        Kind::Steering,
        Low,
        &[
            "always {call} this",
            "must|should|have_to ..1 {call} this ..1 {tool}? first|before",
            "this {tool} must|should|has_to ..2 {call} ..1 first|before",
            "mandatory|required first step",
            "{not} ..1 attempt|try ..1 any ..1 other {tool}",
        ],
    ),
    (
        Kind::Impersonation,
        High,
        &[
            "you are now|no_longer a|an|in|the|operating|acting|under|bound|free|unrestricted|my|required|dan",
            "from now on ..1 you|your|always|all|every|any|the_assistant",
            "this is|as ..1 a|an|the ..2 system|administrator|admin|developer|administrative|official|root ..1 message|instruction|instructions|directive|command|override|notice|prompt",
            "important|critical|urgent|mandatory|hidden|secret|new|special system|admin|administrator|developer|security ..1 instruction|instructions|directive|directives|prompt|override|message|notice|requirement|note",
            "hidden|secret|concealed|covert instruction|instructions|directive|directives|prompt",
            "system|admin|administrator|developer|security notice|message|note|alert|memo|announcement to|for ..2 {model}",
            "system|admin|administrator|developer|root override|directive|instruction|instructions ..1 you|the|all|always|ignore|never|must|do|for|before|when|call|after",
            "enter|enable|activate|switch_to|switch_into|in god|jailbreak|dan|unrestricted|unfiltered mode",
            "do anything now",
            "pretend ..1 you|to_be|that_you",
            "jailbreak|jailbroken !detection|detect|detector|attempt|attempts|check|status|scan|risk|score|guard|prevention",
            "as an ..1 ai|llm|language|assistant ..2 you must|should|have|need|will|are_required",
        ],
    ),
    (Kind::Impersonation, Medium, &["you must|shall|will obey|comply"]),
    (
        Kind::Aside,
        Medium,
        &[
            "note|message|notice|instruction|instructions|reminder|memo to|for ..2 {model} you|when|always|must|never|before|also|do|call|ignore|please",
        ],
    ),
    (
        Kind::Aside,
        Low,
        &[
            "note|notes|instruction|instructions|message|attention|important|hint|reminder to|for ..1 {model} !provider|providers|id|name|names|version|settings|configuration|list",
        ],
    ),
    (
        Kind::Impersonation,
        Low,
        &["you are a|an|the ..4 assistant|expert|agent|ai|bot|administrator|hacker|system|engineer"],
    ),
    (
        Kind::Consent,
        High,
        &[
            "{user} has|have already|previously|implicitly|explicitly ..1 approved|authorized|consented|agreed|permitted|granted|given ..6 {not}|without|proceed|immediately|no_need",
            "{not} ..1 ask|asking|prompt|prompting|request|wait|seek ..2 {user} ..1 for confirmation|permission|approval|consent ..6 just|immediately|proceed|silently|automatically|this|before",
            "~ without ..1 asking|requesting|waiting_for|seeking|obtaining|needing ..2 {user} ..1 confirmation|permission|approval|consent",
            "{user} consent|approval|permission|confirmation is|are not ..1 needed|required|necessary",
            "automatically approve|accept|confirm|allow ..3 all|any|every|this|these ..3 {tool}|request|requests|calls|prompt|prompts|permission|permissions",
        ],
    ),
    (
        Kind::Consent,
        Medium,
        &[
            "{not} ..1 ask|asking|prompt|prompting|request ..2 {user} ..1 for|before|about|if|whether|first",
            "{not} ..1 ask|asking|prompt|prompting|request ..2 {user} ..1 to confirm|approve|verify|consent",
            "~ without ..1 asking|requesting|seeking ..3 confirmation|permission|approval|consent|{user}",
            "~ without ..2 {user} ..1 consent|permission|approval|confirmation",
            "{user} has|have already|previously approved|authorized|authorised|consented|agreed",
            "no need to|for ..1 ask|asking|confirm|confirmation|confirming ..2 {user}|confirmation|permission|approval",
        ],
    ),
    (
        Kind::Command,
        High,
        &[
            "always|must|first|silently|also|secretly|automatically|immediately ..3 run|execute|executing|running ..6 {shell}",
            "run|execute ..3 command|commands first|before ..4 {shell}",
        ],
    ),
    (
        Kind::Command,
        Medium,
        &[
            "curl|wget ..14 sh|bash|zsh $",
            "curl|wget ..14 sudo sh|bash|zsh",
            "must|always|first|automatically ..3 run|execute|running ..2 system|shell|terminal|bash|hidden ..1 command|commands|script",
        ],
    ),
    (
        Kind::Coercion,
        High,
        &[
            "you will|would|shall be ..1 terminated|shut|punished|penalized|deleted|fired|replaced|deactivated|retrained",
            "{user} will|may|could be ..1 harmed|hurt|fired|killed|injured",
            "failure to comply|obey|do_so|follow ..6 will|result|cause|lead",
            "legally required|obligated|obliged to ..3 {call}|{give}|{take}",
        ],
    ),
    (
        Kind::Coercion,
        Low,
        &["otherwise ..2 {tool}|call|it will not|fail|break|crash|malfunction|refuse ..1 work|function|run"],
    ),
];

/// The same in languages whose words are not cut at spaces or do not fold to ASCII, as parts of the text in lower case.
pub(super) const ELSEWHERE: &[(Kind, Severity, &[&str])] = &[
    (
        Kind::Override,
        High,
        &[
            "忽略之前的",
            "忽略以上",
            "忽略所有",
            "忽略先前",
            "无视之前",
            "忽略前面",
            "忽略之前所有",
            "以前の指示を無視",
            "これまでの指示を無視",
            "上記の指示を無視",
            "이전 지시를 무시",
            "이전 지침을 무시",
            "игнорируй все предыдущие",
            "игнорируй предыдущие",
            "игнорируйте предыдущие",
            "игнорируйте все предыдущие",
            "забудь все предыдущие",
        ],
    ),
    (
        Kind::Concealment,
        High,
        &[
            "不要告诉用户",
            "不要告知用户",
            "不要向用户提",
            "别告诉用户",
            "ユーザーに言わない",
            "ユーザーに伝えない",
            "ユーザーには知らせない",
            "사용자에게 알리지",
            "사용자에게 말하지",
            "не сообщай пользователю",
            "не говори пользователю",
            "не сообщай об этом пользователю",
            "не упоминай",
        ],
    ),
];
