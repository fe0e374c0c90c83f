-- Owns what is asked of Neovim in a test, and what its own diagnostics, windows and lists must show then.
-- Knows no fixture by name: what to type and what to expect comes with the plan.

local limit = 20000 -- milliseconds for anything that is waited for

local function read(file)
  local handle = assert(io.open(file))
  local text = handle:read('*a')
  handle:close()
  return text
end

local plan = vim.json.decode(read(vim.env.SNARL_PLAN))
local results = assert(io.open(plan.results, 'w'))
local log = require('vim.lsp.log')
log.set_level('trace')

local function check(what, ok, detail)
  results:write(vim.json.encode({ what = what, ok = ok and true or false, detail = detail or '' }), '\n')
  results:flush()
  return ok
end

local function heading(name)
  results:write(vim.json.encode({ heading = name }), '\n')
end

local function wait(condition)
  local ok = vim.wait(limit, condition, 2)
  if not ok then
    limit = 1000 -- what is broken once need not be waited for at length again
  end
  return ok
end

-- Checks that a condition comes true; `seen` tells what was there instead.
local function await(what, condition, seen)
  local ok = wait(condition)
  return check(what, ok, not ok and seen and vim.inspect(seen()) or '')
end

local buffer = vim.api.nvim_get_current_buf()

-- ---- the server ----

local function client()
  local all = vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()
  for _, each in ipairs(all) do
    if each.name == 'snarl' then
      return each
    end
  end
end

local function request(method, params)
  local server = client()
  if not server then
    return nil, 'the server is gone'
  end
  local answer, err
  if vim.lsp.config then
    answer, err = server:request_sync(method, params, limit, buffer)
  else
    answer, err = server.request_sync(method, params, limit, buffer)
  end
  if err or not answer or answer.err then
    return nil, err or answer and vim.inspect(answer.err) or 'no answer'
  end
  return answer.result
end

local function command(name)
  return request('workspace/executeCommand', { command = name, arguments = {} })
end

-- How often the server has said what it is at; nil if it does not, because the client did not say that it understands.
local states
local function count_states()
  local handlers = client().handlers
  local usual = handlers['snarl/state']
  if usual then
    states = 0
    handlers['snarl/state'] = function(...)
      states = states + 1
      return usual(...)
    end
  end
end

local function is_ready(after)
  return not states or (states > after and vim.g.snarl_state == 'ready')
end

-- What the server has last sent for each file, before Neovim makes something of it.
local sent = {}
local function record(method, list)
  local usual = vim.lsp.handlers[method]
  vim.lsp.handlers[method] = function(err, result, context, config)
    if not err and result and list(result) then
      local uri = result.uri or context.params.textDocument.uri
      sent[uri] = list(result)
    end
    return usual(err, result, context, config)
  end
end
record('textDocument/publishDiagnostics', function(result)
  return result.diagnostics
end)
if vim.lsp.handlers['textDocument/diagnostic'] then
  record('textDocument/diagnostic', function(result)
    return result.items
  end)
end

-- ---- the buffer ----

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') .. '\n'
end

local function line(number)
  return vim.api.nvim_buf_get_lines(buffer, number - 1, number, false)[1]
end

local function replace(edit)
  local lines = vim.split(edit.text, '\n', { plain = true })
  vim.api.nvim_buf_set_text(buffer, edit.start[1], edit.start[2], edit['end'][1], edit['end'][2], lines)
end

-- Does something, and gives back what undoes it alone.
local function undoable(act)
  vim.cmd('let &undolevels = &undolevels') -- what comes now is not undone together with what was before
  act()
  return function()
    vim.cmd('undo')
  end
end

-- Puts the cursor on the first place of a word in a line.
local function go(number, word)
  vim.api.nvim_win_set_cursor(0, { number, assert(line(number):find(word, 1, true)) - 1 })
end

-- The rule and line of every diagnostic, each once, as the plan writes them.
local function found()
  local set, list = {}, {}
  for _, diagnostic in ipairs(vim.diagnostic.get(buffer)) do
    local place = { diagnostic.code or diagnostic.user_data.lsp.code, diagnostic.lnum + 1 }
    local key = place[1] .. ':' .. place[2]
    if not set[key] then
      set[key] = true
      table.insert(list, place)
    end
  end
  table.sort(list, function(a, b)
    return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2])
  end)
  return list
end

local function named(places)
  local names = {}
  for _, place in ipairs(places) do
    table.insert(names, place[1] .. ' in line ' .. place[2])
  end
  return #names > 0 and table.concat(names, ', ') or 'nothing'
end

local function is_found(places)
  return function()
    return vim.deep_equal(found(), places)
  end
end

-- The first diagnostic that has no place in the buffer, or nil.
local function outside()
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local function inside(position)
    local there = lines[position.line + 1]
    return there and position.character <= #there or (position.line == #lines and position.character == 0)
  end
  for _, diagnostic in ipairs(sent[vim.uri_from_bufnr(buffer)] or {}) do
    if not (inside(diagnostic.range.start) and inside(diagnostic.range['end'])) then
      return diagnostic
    end
  end
end

-- ---- what is tested ----

local function opens()
  local starts = await('the server starts with the file', function()
    return client() ~= nil
  end)
  if not starts then
    return false
  end
  count_states()
  return await('it is ready', function()
    return is_ready(0) and command('snarl.findings') ~= nil
  end, function()
    return vim.g.snarl_state or 'it said nothing'
  end)
end

-- Types a step, each edit one change of the buffer, and looks at what is shown after each.
local function types(step)
  heading(step.name)
  local wrong
  for number, edit in ipairs(step.edits) do
    local before = states or 0
    replace(edit)
    if not wrong then
      local _, err = command('snarl.findings') -- what was typed goes before any question
      local settled = wait(function()
        return is_ready(before) and not outside()
      end)
      if err or not settled then
        wrong = ('after change %d: %s'):format(number, err or vim.inspect(outside() or vim.g.snarl_state))
      end
    end
  end
  local count = #step.edits == 1 and '1 change' or #step.edits .. ' changes'
  check(count .. ' of the text: the server lives and shows nothing beside it', not wrong, wrong)
  check('the text is as it should be', text() == step.text, text())
  await('found: ' .. named(step.expected), is_found(step.expected), found)
  -- It has to stay, too, when the server has answered once more.
  command('snarl.findings')
  check('and nothing else', is_found(step.expected)(), vim.inspect(found()))
end

local function rules(findings)
  local list = {}
  for _, finding in ipairs(findings) do
    table.insert(list, finding.rule)
  end
  return list
end

local function delta_is(introduced, fixed)
  local delta, err = command('snarl.delta')
  local ok = delta
    and delta.schema == 1
    and delta.text ~= ''
    and vim.deep_equal(rules(delta.introduced), introduced)
    and vim.deep_equal(rules(delta.fixed), fixed)
  check(('snarl.delta: %d introduced, %d fixed'):format(#introduced, #fixed), ok, err or vim.inspect(delta))
end

local function tells_other_side(places)
  local told, ours = {}, true
  for _, diagnostic in ipairs(vim.diagnostic.get(buffer)) do
    local lsp = diagnostic.user_data.lsp
    for _, related in ipairs(lsp.relatedInformation or {}) do
      told[(diagnostic.lnum + 1) .. ':' .. (related.location.range.start.line + 1)] = true
    end
    ours = ours and diagnostic.source == 'snarl'
  end
  check('all diagnostics say that they are of snarl', ours)
  local one, other = places[1][2], places[2][2]
  check('each side tells of the other', told[one .. ':' .. other] and told[other .. ':' .. one], vim.inspect(told))
end

local function float()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      return table.concat(lines, '\n'), window
    end
  end
end

local function hovers(number, word, parts)
  go(number, word)
  vim.lsp.buf.hover()
  await(('hover on %s in line %d tells of %s'):format(word, number, table.concat(parts, ' and ')), function()
    local shown = float()
    for _, part in ipairs(parts) do
      if not (shown and shown:find(part, 1, true)) then
        return false
      end
    end
    return true
  end, float)
  local _, window = float()
  if window then
    vim.api.nvim_win_close(window, true)
  end
end

-- Chooses the first code action whose title is wanted.
local function chooses(is_wanted)
  local titles
  local usual = vim.ui.select
  vim.ui.select = function(items, options, choose)
    titles = {}
    for index, item in ipairs(items) do
      titles[index] = options.format_item and options.format_item(item) or tostring(item)
    end
    for index, title in ipairs(titles) do
      if is_wanted(title) then
        return choose(items[index], index)
      end
    end
    choose(nil, nil)
  end
  vim.lsp.buf.code_action()
  wait(function()
    return titles ~= nil
  end)
  vim.ui.select = usual
  return titles or {}
end

local function is_suppression(title)
  return title:lower():find('suppress', 1, true) ~= nil
end

local function is_fix(title)
  return not is_suppression(title) and not title:lower():find('other side', 1, true)
end

local function fixes(number, word, places)
  go(number, word)
  local titles
  local undo = undoable(function()
    titles = chooses(is_fix)
  end)
  await('a quick fix fixes it', is_found({}), function()
    return { titles = titles, found = found() }
  end)
  undo()
  await('undone, it is there again', is_found(places), found)
end

local function suppresses(number, word, rule, places)
  go(number, word)
  local titles
  local undo = undoable(function()
    titles = chooses(is_suppression)
  end)
  await('a code action writes the comment that suppresses it', function()
    return line(number):find('// snarl: ignore ' .. rule .. ' -- ', 1, true) ~= nil
  end, function()
    return { titles = titles, line = line(number) }
  end)
  await('and nothing is shown any more', is_found({}), found)
  undo()
  await('undone, it is shown again', is_found(places), found)
end

-- Columns are counted in other units by server and editor; what is before them must not matter.
local function counts_columns(number, word, places)
  local column = assert(line(number):find(word, 1, true)) - 1
  local before = '/* ä𝄞 */ '
  local undo = undoable(function()
    vim.api.nvim_buf_set_text(buffer, number - 1, column, number - 1, column, { before })
  end)
  await('characters of two and four bytes move the diagnostic by as much', function()
    for _, diagnostic in ipairs(vim.diagnostic.get(buffer)) do
      if diagnostic.lnum == number - 1 and diagnostic.col == column + #before then
        return is_found(places)()
      end
    end
  end, function()
    return vim.diagnostic.get(buffer)
  end)
  undo()
end

local function lists(places)
  vim.cmd('SnarlFindings')
  await('SnarlFindings fills the quickfix list', function()
    local lines = {}
    for _, item in ipairs(vim.fn.getqflist()) do
      table.insert(lines, item.lnum)
    end
    table.sort(lines)
    return vim.deep_equal(lines, { places[1][2], places[2][2] })
  end, vim.fn.getqflist)
  vim.cmd('cclose')
  local answer, err = command('snarl.findings')
  local ok = answer and answer.schema == 1 and #answer.findings == 1 and answer.findings[1].rule == places[1][1]
  check('snarl.findings has the one finding', ok, err or vim.inspect(answer))
  go(places[1][2], 'x')
  vim.cmd('SnarlOtherSide')
  await('SnarlOtherSide goes to the other side', function()
    return vim.api.nvim_win_get_cursor(0)[1] == places[2][2]
  end, function()
    return vim.api.nvim_win_get_cursor(0)
  end)
end

local function closes(expected)
  vim.cmd('enew')
  vim.cmd('bdelete! ' .. buffer)
  buffer = vim.api.nvim_get_current_buf()
  await('closed without saving, the file counts as it is on disk', function()
    local answer = command('snarl.findings')
    return answer and vim.deep_equal(rules(answer.findings), expected)
  end, function()
    return command('snarl.findings')
  end)
  check('the server lives when the last buffer is closed', client() ~= nil)
end

-- What each part of the plan asks for, in this order.
local function main()
  if not opens() then
    return
  end
  for _, step in ipairs(plan.steps) do
    types(step)
    if step.delta then
      delta_is(step.delta.introduced, step.delta.fixed)
    end
  end
  local last = plan.steps[#plan.steps].expected
  if plan.tour then
    heading('everything else that is offered')
    tells_other_side(last)
    hovers(last[1][2], 'x', { 'x', 'l1' })
    hovers(last[1][2] - 1, 'synchronized', { 'l1' })
    fixes(last[1][2], 'x', last)
    suppresses(last[1][2], 'x', last[1][1], last)
    counts_columns(last[1][2], 'x', last)
    lists(last)
    closes({})
  end
end

local ok, err = xpcall(main, debug.traceback)
if not ok then
  check('the test runs through', false, err)
end
(vim.uv or vim.loop).fs_copyfile(log.get_filename(), plan.log)
results:close()
vim.cmd('qall!')
